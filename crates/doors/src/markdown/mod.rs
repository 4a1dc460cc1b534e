//! The model of a Markdown text: its blocks in order, and the runs of text within them. Owns what a
//! text means (CommonMark and GitHub's tables, task lists, strike-through); must not know how a
//! door shows it, or chats and terminals at all.
//!
//! A door paints a [`Document`] and never reads Markdown itself. Blocks stand in one flat list with
//! marks where a container starts and ends, because a model chooses how deep they nest: neither
//! painting nor dropping a document needs a stack.
//!
//! Link reference definitions are shown as text and never resolved. CommonMark would swallow what a
//! model wrote, and a definition at the end would change what a stream has shown of the start.

mod linked;
mod parse;
mod prefix;

pub use linked::linked_files;
pub use parse::normalised;
pub use prefix::completed;

/// A text, read. See [`Document::read`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub blocks: Vec<Block>,
    /// The links and images of all blocks, by the number that [`Inline`] has.
    pub links: Vec<Link>,
    /// Where the line begins on which the last top-level block starts, in bytes of the normalised
    /// text.
    pub last_block: usize,
}

/// One leaf, or the edge of a container. Each [`Block::Enter`] has its [`Block::Leave`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Enter(Container),
    Leave(Container),
    /// `tight`: the text of a list item that has no paragraph around it.
    Paragraph {
        text: Vec<Inline>,
        tight: bool,
    },
    /// `level` is 1 to 6.
    Heading {
        level: usize,
        text: Vec<Inline>,
    },
    /// `language` is the first word behind the fence, as it was written.
    Code {
        language: Option<String>,
        text: String,
    },
    /// Raw HTML, which a door shows as text.
    Html(String),
    Table(Table),
    Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    Quote,
    List,
    Item(Marker),
}

/// What stands before a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `depth` is 1 for a list that stands in no other.
    Bullet {
        depth: usize,
    },
    Number(u64),
}

impl Marker {
    /// The marker as every door shows it, with a space behind it.
    pub fn text(self) -> String {
        match self {
            Self::Number(number) => format!("{number}. "),
            Self::Bullet { depth } if depth.is_multiple_of(2) => "◦ ".to_owned(),
            Self::Bullet { .. } => "• ".to_owned(),
        }
    }
}

/// A piece of text within a block, with the emphasis around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    pub piece: Piece,
    pub emphasis: Emphasis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text; a line feed in it was written as an entity.
    Text(String),
    Code(String),
    /// Raw HTML within a line, which a door shows as text.
    Html(String),
    /// The source goes on in the next line.
    SoftBreak,
    /// A line break that was asked for, `<br>` too.
    HardBreak,
    /// The box of a task list item.
    Task(bool),
    /// A link or image starts, by its place in [`Document::links`].
    LinkStart(usize),
    LinkEnd(usize),
}

/// How many marks of each kind stand around a piece is of no interest, only whether one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emphasis {
    pub strong: bool,
    pub italic: bool,
    pub strike: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub dest: String,
    /// It shows a picture. Doors show a link to it.
    pub image: bool,
    /// What a reader sees of the link. A link without text shows its address.
    pub text: String,
}

impl Link {
    /// True if its text is its address, so that the address need not be shown once more.
    pub fn names_its_address(&self) -> bool {
        let text = self.text.trim();
        self.dest.is_empty() || text == self.dest || format!("mailto:{text}") == self.dest
    }
}

/// Rows may have fewer cells than the table has columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub aligns: Vec<Align>,
    /// The first row is the header.
    pub rows: Vec<Vec<Vec<Inline>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    Left,
    Center,
    Right,
}

impl Align {
    /// How many of `space` free columns stand on the left of a cell.
    pub fn left(self, space: usize) -> usize {
        match self {
            Self::Left => 0,
            Self::Center => space / 2,
            Self::Right => space,
        }
    }
}

#[cfg(test)]
mod tests;
