//! Pictures as Graphviz DOT text, for users who lay out and style their graphs with Graphviz.

use std::fmt::Write;

use super::colour::{self, Colour};
use super::label::tidy;
use super::picture::{LinkStyle, Node, NodeKind, Picture, Place, Tone};
use super::route;

impl Picture {
    /// The picture as the text of a DOT file.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph {\n");
        let mut line = |text: std::fmt::Arguments<'_>| {
            writeln!(out, "  {text}").expect("writing to a string cannot fail");
        };
        let notes =
            std::iter::once(self.title()).chain(self.footnotes().iter().map(String::as_str));
        let notes: Vec<String> = notes.map(escaped).filter(|note| !note.is_empty()).collect();
        line(format_args!("graph [rankdir=LR, labelloc=t, label=\"{}\"]", notes.join("\\n")));
        line(format_args!("node [fontname=\"DejaVu Sans\", fontsize=12, style=filled]"));
        line(format_args!("edge [fontname=\"DejaVu Sans\", fontsize=10]"));
        for (index, column) in self.columns().iter().enumerate() {
            line(format_args!("subgraph column_{index} {{"));
            line(format_args!("  rank=same"));
            for (place, node) in column.nodes.iter().enumerate() {
                let name = name(Place::new(index, place));
                line(format_args!("  {name} [{}]", node_attributes(node)));
            }
            line(format_args!("}}"));
        }
        for link in self.links() {
            let mut attributes = format!(
                "penwidth={:.2}, color=\"{}\"",
                route::width(link.weight),
                hexadecimal(match link.tone {
                    Tone::Plain => colour::SLATE,
                    Tone::Accent => colour::VERMILLION,
                    Tone::Alternative => colour::BLUE,
                    Tone::Faint => colour::LIGHT,
                })
            );
            match link.style {
                LinkStyle::Solid => {}
                LinkStyle::Dashed => attributes.push_str(", style=dashed"),
                LinkStyle::Dotted => attributes.push_str(", style=dotted"),
            }
            if let Some(label) = &link.label {
                write!(attributes, ", label=\"{}\"", escaped(label)).expect("a text");
            }
            line(format_args!("{} -> {} [{attributes}]", name(link.from), name(link.to)));
        }
        out.push_str("}\n");
        out
    }
}

fn name(place: Place) -> String {
    format!("node_{}_{}", place.column, place.node)
}

fn node_attributes(node: &Node) -> String {
    let label = match &node.detail {
        Some(detail) => format!("{}\\n{}", escaped(&node.label), escaped(detail)),
        None => escaped(&node.label),
    };
    let (shape, fill) = match node.kind {
        NodeKind::State => ("box, style=\"filled,rounded\"", Colour::new(0xF3, 0xF5, 0xF7)),
        NodeKind::Action => ("ellipse", colour::SKY.tint(0.28)),
        NodeKind::Outcome => ("box", colour::GREEN.tint(0.16)),
        NodeKind::Reward => ("hexagon", colour::YELLOW.tint(0.32)),
    };
    let mut text = format!("label=\"{label}\", shape={shape}, fillcolor=\"{}\"", hexadecimal(fill));
    if node.accent {
        let accent = hexadecimal(colour::VERMILLION);
        write!(text, ", color=\"{accent}\", penwidth=2.4").expect("a text");
    }
    text
}

fn hexadecimal(colour: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue)
}

/// Escapes text for double quotes: backslashes start escapes in DOT, even in labels.
fn escaped(text: &str) -> String {
    tidy(text).replace('\\', "\\\\").replace('"', "\\\"")
}
