//! A node-link picture in columns, as plain data: what is shown, not where.

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
    /// What is written in it; shortened where it is long.
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

/// Nodes above each other.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureColumn {
    /// What is written above them; may be empty.
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

/// Where a node is: its column from the left and its place in the column as given, both from 0.
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
    /// Without gaps.
    #[default]
    Solid,
    /// For what could not be tested, or is not a fact.
    Dashed,
    /// For what goes another way, for example through the policy.
    Dotted,
}

/// How a link is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tone {
    /// For what is there without being the point.
    Faint,
    /// Dark grey.
    #[default]
    Plain,
    /// The second colour, for what would have been instead.
    Alternative,
    /// The accent colour.
    Accent,
}

/// An arrow from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Where it begins.
    pub from: Place,
    /// Where it ends: in a column further right (any number of them) or in the same column.
    pub to: Place,
    /// How strong it is, from 0 to 1: its width.
    pub weight: f64,
    /// Solid, dashed or dotted.
    pub style: LinkStyle,
    /// Its colour.
    pub tone: Tone,
    /// What is written on it.
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

    /// The same link with something written on it.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }
}

/// What an entry of the legend shows.
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

/// A line of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendEntry {
    /// What is shown.
    pub sample: Sample,
    /// What it means.
    pub text: String,
}

/// A node-link picture that is known to be whole: every link has its ends and a weight in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    title: String,
    description: Option<String>,
    columns: Vec<PictureColumn>,
    links: Vec<Link>,
    legend: Vec<LegendEntry>,
    footnotes: Vec<String>,
}

/// What is wrong with the parts of a picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PictureError {
    /// A link begins or ends nowhere.
    #[error("link {link}: there is no node {} in column {}", place.node, place.column)]
    MissingNode {
        /// Which link, from 0.
        link: usize,
        /// Where the node was expected.
        place: Place,
    },
    /// A link goes to the left or to its own beginning.
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
    /// A weight that is no share.
    #[error("{place}: the weight is {weight}, expected a number from 0 to 1")]
    Weight {
        /// Which link or entry of the legend.
        place: String,
        /// Its weight.
        weight: f64,
    },
    /// Two nodes with one name.
    #[error("two nodes have the id `{id}`")]
    DuplicateId {
        /// The name.
        id: String,
    },
}

impl Picture {
    /// A picture of these columns, from left to right, and links.
    ///
    /// # Errors
    /// When a link has a missing end, goes back to the left or has a weight outside [0, 1], or when
    /// two nodes have the same id.
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

    /// What is written above the picture.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the picture shows, in words: as given, or the links, strongest first.
    #[must_use]
    pub fn description(&self) -> String {
        const MOST: usize = 30;
        if let Some(description) = &self.description {
            return description.clone();
        }
        let mut links: Vec<&Link> = self.links.iter().collect();
        links.sort_by(|a, b| b.tone.cmp(&a.tone).then(b.weight.total_cmp(&a.weight)));
        let mut words: Vec<String> =
            links.iter().take(MOST).map(|link| self.link_in_words(link)).collect();
        if links.len() > MOST {
            words.push(format!("and {} weaker ones", links.len() - MOST));
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

    /// The node at a place that a link of this picture names.
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
