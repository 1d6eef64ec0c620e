//! NPY: NumPy's format for one array. Every size is checked before it is used.

use std::io::Read;
#[cfg(feature = "npz")]
use std::io::Write;

use super::cell::Cell;

/// The header of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArrayHeader {
    pub(super) element: Element,
    /// The first dimension varies fastest.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    /// Size of an element in bytes.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    /// UTF-32, padded with zeros.
    Text,
    /// ASCII, padded with zeros.
    Bytes,
}

/// Maximum length of a header in bytes. No array of transitions needs a longer one.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// Reads the header and leaves the reader at the first element. Also returns the number of bytes
/// read.
pub(super) fn read_header(input: &mut impl Read) -> Result<(ArrayHeader, usize), String> {
    let mut fixed = [0; 8];
    input.read_exact(&mut fixed).map_err(|_| "the array's header is cut off".to_owned())?;
    if &fixed[..6] != b"\x93NUMPY" {
        return Err("it is not an array in NumPy's format".into());
    }
    let mut length = [0; 4];
    let width = match fixed[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(format!("unknown version {version} of NumPy's format")),
    };
    input
        .read_exact(&mut length[..width])
        .map_err(|_| "the array's header is cut off".to_owned())?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_HEADER_BYTES {
        return Err(format!(
            "the array's header claims {length} bytes, expected at most {MAX_HEADER_BYTES}"
        ));
    }
    let mut text = vec![0; length];
    input.read_exact(&mut text).map_err(|_| "the array's header is cut off".to_owned())?;
    let text =
        std::str::from_utf8(&text).map_err(|_| "the array's header is not text".to_owned())?;
    Ok((parse_header(text)?, 8 + width + length))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`
fn parse_header(text: &str) -> Result<ArrayHeader, String> {
    let after = |key: &str| {
        let quoted = format!("'{key}':");
        text.find(&quoted)
            .map(|at| text[at + quoted.len()..].trim_start())
            .ok_or_else(|| format!("the array's header has no {key}"))
    };
    let description = after("descr")?;
    let description = description
        .strip_prefix('\'')
        .and_then(|rest| rest.split_once('\''))
        .map(|(name, _)| name)
        .ok_or("it is an array of records: expected one plain type of element")?;
    let order = after("fortran_order")?;
    let fortran = match order {
        _ if order.starts_with("True") => true,
        _ if order.starts_with("False") => false,
        _ => return Err("the array's header has no usable fortran_order".into()),
    };
    let shape = after("shape")?
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or("the array's header has no usable shape")?
        .0
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().map_err(|_| format!("`{size}` is not the size of an array")))
        .collect::<Result<Vec<usize>, String>>()?;
    Ok(ArrayHeader { element: parse_element(description)?, fortran, shape })
}

fn parse_element(name: &str) -> Result<Element, String> {
    let unsupported = || {
        let hint = match name.trim_start_matches(['<', '>', '|', '=']).chars().next() {
            Some('O') => "loading Python objects would run code: save numbers, booleans or text",
            Some('c') => "a transition cannot contain complex numbers",
            Some('M' | 'm') => "save times as numbers",
            _ => "save it as float64, int64, bool or text",
        };
        format!("elements of type '{name}' are not supported ({hint})")
    };
    let mut letters = name.chars();
    let order = letters.next().ok_or_else(unsupported)?;
    let letter = letters.next().ok_or_else(unsupported)?;
    let count: usize = letters.as_str().parse().map_err(|_| unsupported())?;
    let big_endian = match order {
        '<' | '|' | '=' => false,
        '>' => true,
        _ => return Err(unsupported()),
    };
    let (kind, size) = match (letter, count) {
        ('b', 1) => (ElementKind::Boolean, 1),
        ('i', 1 | 2 | 4 | 8) => (ElementKind::Signed, count),
        ('u', 1 | 2 | 4 | 8) => (ElementKind::Unsigned, count),
        ('f', 4 | 8) => (ElementKind::Float, count),
        ('U', 1..=1024) => (ElementKind::Text, 4 * count),
        ('S', 1..=4096) => (ElementKind::Bytes, count),
        _ => return Err(unsupported()),
    };
    Ok(Element { kind, size, big_endian })
}

/// An element's value.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Element {
    /// Decodes one element of `self.size` bytes.
    fn decode(self, bytes: &[u8]) -> Result<Scalar, String> {
        // Widened to 8 bytes, least significant first.
        let mut word = [0; 8];
        if bytes.len() <= 8 {
            word[..bytes.len()].copy_from_slice(bytes);
            if self.big_endian {
                word[..bytes.len()].reverse();
            }
        }
        let unsigned = u64::from_le_bytes(word);
        Ok(match self.kind {
            ElementKind::Boolean => Scalar::Flag(unsigned != 0),
            ElementKind::Unsigned => Scalar::Whole(
                i64::try_from(unsigned).map_err(|_| format!("{unsigned} is too large"))?,
            ),
            ElementKind::Signed => {
                let unused = 64 - 8 * self.size;
                Scalar::Whole((unsigned << unused).cast_signed() >> unused)
            }
            ElementKind::Float if self.size == 4 => {
                Scalar::Number(f64::from(f32::from_bits((unsigned & 0xFFFF_FFFF) as u32)))
            }
            ElementKind::Float => Scalar::Number(f64::from_bits(unsigned)),
            ElementKind::Text => {
                let letters = bytes.chunks_exact(4).map(|letter| {
                    let mut letter: [u8; 4] = [letter[0], letter[1], letter[2], letter[3]];
                    if self.big_endian {
                        letter.reverse();
                    }
                    char::from_u32(u32::from_le_bytes(letter)).ok_or("a text is not Unicode")
                });
                let text: String = letters.collect::<Result<String, _>>()?;
                Scalar::Text(text.trim_end_matches('\0').to_owned())
            }
            ElementKind::Bytes => {
                let text = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
                Scalar::Text(text.trim_end_matches('\0').to_owned())
            }
        })
    }
}

/// Visits all elements of a 1-D or 2-D array with row and column. Its header was already read.
pub(super) fn for_each<E>(
    input: &mut impl Read,
    header: &ArrayHeader,
    cut_off: impl Fn() -> E,
    mut visit: impl FnMut(usize, usize, Result<Cell<'_>, String>) -> Result<(), E>,
) -> Result<(), E> {
    let rows = header.shape.first().copied().unwrap_or(1);
    let columns = header.shape.get(1).copied().unwrap_or(1);
    let mut bytes = vec![0; header.element.size];
    for position in 0..rows * columns {
        let (row, column) = if header.fortran {
            (position % rows, position / rows)
        } else {
            (position / columns, position % columns)
        };
        input.read_exact(&mut bytes).map_err(|_| cut_off())?;
        match header.element.decode(&bytes) {
            Ok(Scalar::Flag(flag)) => visit(row, column, Ok(Cell::Flag(flag)))?,
            Ok(Scalar::Whole(number)) => visit(row, column, Ok(Cell::Whole(number)))?,
            Ok(Scalar::Number(number)) => visit(row, column, Ok(Cell::Number(number)))?,
            Ok(Scalar::Text(text)) => visit(row, column, Ok(Cell::Text(&text)))?,
            Err(message) => visit(row, column, Err(message))?,
        }
    }
    Ok(())
}

/// Writes the header of an array with this many rows; `columns` is set for a 2-D array.
#[cfg(feature = "npz")]
pub(super) fn write_header(
    output: &mut impl Write,
    element: &str,
    rows: usize,
    columns: Option<usize>,
) -> std::io::Result<()> {
    let shape = match columns {
        Some(columns) => format!("({rows}, {columns})"),
        None => format!("({rows},)"),
    };
    let mut header =
        format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}");
    // The elements start at a multiple of 64 bytes.
    let padding = 63 - (10 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    output.write_all(b"\x93NUMPY\x01\x00")?;
    output.write_all(&u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes())?;
    output.write_all(header.as_bytes())
}
