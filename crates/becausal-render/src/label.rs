//! Texts that fit: cleaned, shortened in the middle, wrapped into lines.

use super::font::Font;

/// Makes one line of printable text: runs of white space and control characters become one space.
#[must_use]
pub fn tidy(text: &str) -> String {
    let blank =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text, or as much of its beginning and end as fits `width`, with `…` in between.
#[must_use]
pub fn shorten(text: &str, font: Font, width: f64) -> String {
    let text = tidy(text);
    if font.width(&text) <= width {
        return text;
    }
    let characters: Vec<char> = text.chars().collect();
    let mut room = width - font.advance('…');
    let (mut head, mut tail) = (0, 0);
    // Take characters from both ends in turn, because names often differ only at their ends.
    while head + tail < characters.len() {
        let at_head = head <= tail;
        let next = if at_head { characters[head] } else { characters[characters.len() - 1 - tail] };
        room -= font.advance(next);
        if room < 0.0 {
            break;
        }
        if at_head {
            head += 1;
        } else {
            tail += 1;
        }
    }
    let head: String = characters[..head].iter().collect();
    let tail: String = characters[characters.len() - tail..].iter().collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Wraps the text between words into lines of at most `width`; a word that is too wide is shortened.
#[must_use]
pub fn wrap(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in tidy(text).split(' ').filter(|word| !word.is_empty()) {
        let word = shorten(word, font, width);
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} {word}");
            if font.width(&longer) <= width {
                *last = longer;
                continue;
            }
        }
        lines.push(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font::regular(13.0);

    #[test]
    fn a_shortened_text_keeps_both_ends() {
        let short = shorten("velocity_of_the_left_front_wheel", FONT, 90.0);
        assert!(short.starts_with("velo") && short.ends_with("heel"), "{short}");
        assert!(short.contains('…') && FONT.width(&short) <= 90.0);
        assert_eq!(shorten("x'", FONT, 90.0), "x'");
    }

    #[test]
    fn wrapped_lines_fit_and_keep_all_words() {
        let lines = wrap("one two  three\nfour five six seven", FONT, 80.0);
        assert_eq!(lines.join(" "), "one two three four five six seven");
        assert!(lines.iter().all(|line| FONT.width(line) <= 80.0));
    }
}
