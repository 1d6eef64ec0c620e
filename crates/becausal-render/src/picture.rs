//! A node-link picture in columns, as plain data without positions.

/// What a node stands for; each kind has its own shape and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// A state variable.
    State,
    /// An action variable.
    Action,
    /// An outcome variable.
    Outcome,
    /// A reward term.
    Reward,
}

/// A node of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// A name that is unique in the picture.
    pub id: String,
    /// Its label; shortened if too long.
    pub label: String,
    /// A second, smaller line, for example a value.
    pub detail: Option<String>,
    /// What it stands for.
    pub kind: NodeKind,
    /// Whether it is drawn in the accent colour.
    pub accent: bool,
}

impl Node {
    /// A node whose label is its id, without detail and accent.
    #[must_use]
    pub fn new(id: impl Into<String>, kind: NodeKind) -> Self {
        let id = id.into();
        Self { label: id.clone(), id, detail: None, kind, accent: false }
    }

    /// The same node with another label.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// The same node with a second line.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// The same node in the accent colour, or not.
    #[must_use]
    pub fn with_accent(self, accent: bool) -> Self {
        Self { accent, ..self }
    }
}

/// A column of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureColumn {
    /// The heading; may be empty.
    pub heading: String,
    /// The nodes from top to bottom.
    pub nodes: Vec<Node>,
}

impl PictureColumn {
    /// A column of nodes under a heading.
    #[must_use]
    pub fn new(heading: impl Into<String>, nodes: Vec<Node>) -> Self {
        Self { heading: heading.into(), nodes }
    }
}

/// The place of a node: its column from the left and its index in the column, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The column.
    pub column: usize,
    /// The node in the column.
    pub node: usize,
}

impl Place {
    /// The node `node` of the column `column`.
    #[must_use]
    pub fn new(column: usize, node: usize) -> Self {
        Self { column, node }
    }
}

/// How a link is stroked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LinkStyle {
    /// A solid line.
    #[default]
    Solid,
    /// For what could not be tested or did not happen.
    Dashed,
    /// For other kinds of influence, for example through the policy.
    Dotted,
}

/// How a link is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tone {
    /// For what is less important.
    Faint,
    /// Dark grey.
    #[default]
    Plain,
    /// The second colour, for the alternative.
    Alternative,
    /// The accent colour.
    Accent,
}

/// An arrow from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The node where it begins.
    pub from: Place,
    /// The node where it ends: in any column further right, or in the same column.
    pub to: Place,
    /// The strength from 0 to 1, shown as width.
    pub weight: f64,
    /// Solid, dashed or dotted.
    pub style: LinkStyle,
    /// Its colour.
    pub tone: Tone,
    /// Its label.
    pub label: Option<String>,
}

impl Link {
    /// A plain solid link.
    #[must_use]
    pub fn new(from: Place, to: Place, weight: f64) -> Self {
        Self { from, to, weight, style: LinkStyle::Solid, tone: Tone::Plain, label: None }
    }

    /// The same link with another stroke.
    #[must_use]
    pub fn with_style(self, style: LinkStyle) -> Self {
        Self { style, ..self }
    }

    /// The same link in another colour.
    #[must_use]
    pub fn with_tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// The same link with a label.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }
}

/// The sample of a legend entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// A piece of a link.
    Link {
        /// Its weight, from 0 to 1.
        weight: f64,
        /// Its stroke.
        style: LinkStyle,
        /// Its colour.
        tone: Tone,
    },
    /// A small node.
    Node {
        /// Its kind.
        kind: NodeKind,
        /// Whether it has the accent colour.
        accent: bool,
    },
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendEntry {
    /// The sample.
    pub sample: Sample,
    /// What it means.
    pub text: String,
}

/// A valid node-link picture: both ends of every link exist and its weight is in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    title: String,
    description: Option<String>,
    columns: Vec<PictureColumn>,
    links: Vec<Link>,
    legend: Vec<LegendEntry>,
    footnotes: Vec<String>,
}

/// Why a picture is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PictureError {
    /// One end of a link does not exist.
    #[error("link {link}: there is no node {} in column {}", place.node, place.column)]
    MissingNode {
        /// Which link, from 0.
        link: usize,
        /// Where the node was expected.
        place: Place,
    },
    /// A link goes to the left or back to its own start.
    #[error(
        "link {link} from `{from}` to `{to}` goes back: a link ends in a column further right, or \
         at another node of its column"
    )]
    Backwards {
        /// Which link, from 0.
        link: usize,
        /// The node where it begins.
        from: String,
        /// The node where it ends.
        to: String,
    },
    /// A weight that is not between 0 and 1.
    #[error("{place}: the weight is {weight}, expected a number from 0 to 1")]
    Weight {
        /// Which link or entry of the legend.
        place: String,
        /// Its weight.
        weight: f64,
    },
    /// Two nodes with the same id.
    #[error("two nodes have the id `{id}`")]
    DuplicateId {
        /// The id.
        id: String,
    },
}

impl Picture {
    /// A picture of these columns, from left to right, and links.
    ///
    /// # Errors
    /// When a link has a missing end, goes to the left or has a weight outside [0, 1], or when two
    /// nodes have the same id.
    pub fn new(
        title: impl Into<String>,
        columns: Vec<PictureColumn>,
        links: Vec<Link>,
    ) -> Result<Self, PictureError> {
        let mut ids: Vec<&str> =
            columns.iter().flat_map(|column| &column.nodes).map(|node| node.id.as_str()).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PictureError::DuplicateId { id: pair[0].to_owned() });
        }
        let find = |link: usize, place: Place| {
            let column = columns.get(place.column);
            let node = column.and_then(|column| column.nodes.get(place.node));
            node.ok_or(PictureError::MissingNode { link, place })
        };
        for (index, link) in links.iter().enumerate() {
            let (from, to) = (find(index, link.from)?, find(index, link.to)?);
            if link.to.column < link.from.column || link.to == link.from {
                let (from, to) = (from.id.clone(), to.id.clone());
                return Err(PictureError::Backwards { link: index, from, to });
            }
            check_weight(link.weight, || {
                format!("link {index} from `{}` to `{}`", from.id, to.id)
            })?;
        }
        let (legend, footnotes) = (Vec::new(), Vec::new());
        Ok(Self { title: title.into(), description: None, columns, links, legend, footnotes })
    }

    /// The same picture with a legend.
    ///
    /// # Errors
    /// When a sample has a weight outside [0, 1].
    pub fn with_legend(self, legend: Vec<LegendEntry>) -> Result<Self, PictureError> {
        for (index, entry) in legend.iter().enumerate() {
            if let Sample::Link { weight, .. } = entry.sample {
                check_weight(weight, || format!("legend entry {index}, `{}`", entry.text))?;
            }
        }
        Ok(Self { legend, ..self })
    }

    /// The same picture with remarks below it.
    #[must_use]
    pub fn with_footnotes(self, footnotes: Vec<String>) -> Self {
        Self { footnotes, ..self }
    }

    /// The same picture with its own description for readers who cannot see it.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// The title above the picture.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A description in words: the given one, or the links, strongest first.
    #[must_use]
    pub fn description(&self) -> String {
        const MAX_LINKS: usize = 30;
        if let Some(description) = &self.description {
            return description.clone();
        }
        let mut links: Vec<&Link> = self.links.iter().collect();
        links.sort_by(|a, b| b.tone.cmp(&a.tone).then(b.weight.total_cmp(&a.weight)));
        let mut words: Vec<String> =
            links.iter().take(MAX_LINKS).map(|link| self.link_in_words(link)).collect();
        if links.len() > MAX_LINKS {
            words.push(format!("and {} weaker ones", links.len() - MAX_LINKS));
        }
        match words.len() {
            0 => "No links.".to_owned(),
            1 => format!("1 link: {}.", words[0]),
            _ => format!("{} links, strongest first: {}.", links.len(), words.join("; ")),
        }
    }

    /// The columns from left to right.
    #[must_use]
    pub fn columns(&self) -> &[PictureColumn] {
        &self.columns
    }

    /// The links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The entries of the legend.
    #[must_use]
    pub fn legend(&self) -> &[LegendEntry] {
        &self.legend
    }

    /// The remarks below the picture.
    #[must_use]
    pub fn footnotes(&self) -> &[String] {
        &self.footnotes
    }

    /// The node at a place; the place must exist.
    #[must_use]
    pub fn node(&self, place: Place) -> &Node {
        &self.columns[place.column].nodes[place.node]
    }

    /// A link as `cause → effect (label)`.
    #[must_use]
    pub fn link_in_words(&self, link: &Link) -> String {
        let ends = format!("{} → {}", self.node(link.from).label, self.node(link.to).label);
        match &link.label {
            Some(label) => format!("{ends} ({label})"),
            None => ends,
        }
    }
}

fn check_weight(weight: f64, place: impl Fn() -> String) -> Result<(), PictureError> {
    if (0.0..=1.0).contains(&weight) {
        return Ok(());
    }
    Err(PictureError::Weight { place: place(), weight })
}
