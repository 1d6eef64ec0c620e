//! Pieces of HTML: escaped text, templates, pictures.

use super::drawing::Drawing;
use super::svg::Escaped;

/// The style of every page.
pub const STYLE: &str = include_str!("report.css");

/// The script of every page with a strip of steps; the page's own script follows it.
pub const SHARED_SCRIPT: &str = include_str!("page.js");

/// Escapes text for an element or a quoted attribute, in one line.
#[must_use]
pub fn escaped(text: &str) -> String {
    Escaped(text).to_string()
}

/// Escapes text of several lines and keeps its line breaks.
#[must_use]
pub fn lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

/// The concatenated pieces of all items.
#[must_use]
pub fn each<T>(items: impl IntoIterator<Item = T>, piece: impl Fn(T) -> String) -> String {
    let pieces: Vec<String> = items.into_iter().map(piece).collect();
    pieces.concat()
}

/// A template with every `{{place}}` filled. The filled-in text is not expanded again.
#[must_use]
pub fn fill(template: &str, content: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((place, after)) = after.split_once("}}") else {
            break;
        };
        page.push_str(&content(place.trim()));
        rest = after;
    }
    page.push_str(rest);
    page
}

/// A drawing on a card that scrolls if the screen is narrower.
#[must_use]
pub fn picture(drawing: &Drawing) -> String {
    format!(
        "<div class=\"picture\" tabindex=\"0\" role=\"region\" aria-label=\"Picture: {}\" style=\"--w:{:.0}\">\n\
         {}</div>",
        escaped(&drawing.title),
        drawing.width,
        drawing.svg()
    )
}

/// A table whose first column has the names of the rows.
#[must_use]
pub fn table<H: AsRef<str>, R: AsRef<[String]>>(label: &str, headings: &[H], rows: &[R]) -> String {
    let head = each(headings, |cell| format!("<th scope=\"col\">{}</th>", escaped(cell.as_ref())));
    let row = |cells: &R| {
        let cell = |(place, cell): (usize, &String)| match place {
            0 => format!("<th scope=\"row\">{}</th>", escaped(cell)),
            _ => format!("<td>{}</td>", escaped(cell)),
        };
        format!("<tr>{}</tr>\n", each(cells.as_ref().iter().enumerate(), cell))
    };
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>{head}</tr></thead>\
         <tbody>\n{}</tbody></table></div>\n",
        escaped(label),
        each(rows, row)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let text = "</script><img src=x onerror=\"alert('1')\"> & more";
        let safe = escaped(text);
        assert!(!safe.contains(['<', '>', '"', '\'']), "{safe}");
        assert_eq!(lines("a <b>\n  c"), "a &lt;b&gt;\n  c");
    }

    #[test]
    fn filled_in_text_is_not_expanded_again() {
        let page = fill("<{{a}}|{{ b }}|{{c}}>", |place| match place {
            "a" => "{{b}}".to_owned(),
            "b" => "2".to_owned(),
            _ => String::new(),
        });
        assert_eq!(page, "<{{b}}|2|>");
    }
}
