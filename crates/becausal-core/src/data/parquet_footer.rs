//! Checks the footer of a Parquet file before it is decoded.
//!
//! A footer is a structure in Thrift's compact form. To skip a list that it does not know, the decoder
//! goes over as many elements as the list claims to have, and booleans take no bytes there: some bytes
//! would keep it busy for hours. No list in a footer has booleans, so one that does is refused.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::error::Problem;

/// Maximum depth of structures and lists in each other. The decoder has a limit of its own.
const MAX_DEPTH: usize = 64;

/// Refuses a footer with a list of booleans. What else is wrong with it, the decoder says.
pub(super) fn check(file: &mut File) -> Result<(), Problem> {
    let footer = read(file).map_err(|source| Problem::system("read", source))?;
    let mut footer = Footer { bytes: &footer };
    match footer.structure(0) {
        Err(Stop::Booleans) => {
            Err(Problem::damaged("Parquet", "its footer has a list of booleans, which none has"))
        }
        Ok(()) | Err(Stop::Malformed) => Ok(()),
    }
}

/// The bytes of the footer; none where the file has no whole one.
fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut footer = Vec::new();
    if let Some(at) = length.checked_sub(8) {
        let mut tail = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut tail)?;
        let [a, b, c, d, magic @ ..] = tail;
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        if let (b"PAR1", Some(at)) = (&magic, at.checked_sub(size)) {
            file.seek(SeekFrom::Start(at))?;
            file.take(size).read_to_end(&mut footer)?;
        }
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(footer)
}

/// Why the walk over a footer ended early.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    Booleans,
    Malformed,
}

/// What is left of a footer.
struct Footer<'a> {
    bytes: &'a [u8],
}

impl Footer<'_> {
    fn structure(&mut self, depth: usize) -> Result<(), Stop> {
        loop {
            let field = self.byte()?;
            if field == 0 {
                return Ok(());
            }
            if field >> 4 == 0 {
                self.number()?; // the id of the field
            }
            self.value(field & 0x0f, depth + 1)?;
        }
    }

    /// Goes over a value of this type.
    fn value(&mut self, kind: u8, depth: usize) -> Result<(), Stop> {
        if depth > MAX_DEPTH {
            return Err(Stop::Malformed);
        }
        match kind {
            1 | 2 => Ok(()), // a boolean is in its type
            3 => self.skip(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 0x0f], depth)
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                self.elements(count, &[kinds >> 4, kinds & 0x0f], depth)
            }
            12 => self.structure(depth),
            13 => self.skip(16),
            _ => Err(Stop::Malformed),
        }
    }

    /// Goes over the elements of a list, or the keys and values of a map.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: usize) -> Result<(), Stop> {
        if count > 0 && kinds.iter().all(|kind| matches!(kind, 1 | 2)) {
            return Err(Stop::Booleans);
        }
        // Every other element takes a byte at least, so this ends with the footer.
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth + 1)?;
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let (&first, rest) = self.bytes.split_first().ok_or(Stop::Malformed)?;
        self.bytes = rest;
        Ok(first)
    }

    /// A number in groups of seven bits, the least significant first.
    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Stop::Malformed)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Stop> {
        let bytes = usize::try_from(bytes).map_err(|_| Stop::Malformed)?;
        self.bytes = self.bytes.get(bytes..).ok_or(Stop::Malformed)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Result<(), Stop> {
        Footer { bytes }.structure(0)
    }

    #[test]
    fn a_list_of_booleans_is_refused_however_deep_it_is() {
        // Field 1 is a list of 2^31 - 1 booleans.
        let list = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
        assert_eq!(walk(&[&list[..], &[0]].concat()), Err(Stop::Booleans));
        // In a structure, in a list of lists, as a set, and as keys and values of a map.
        assert_eq!(walk(&[&[0x1c], &list[..], &[0, 0]].concat()), Err(Stop::Booleans));
        assert_eq!(walk(&[&[0x19, 0x19], &list[1..], &[0]].concat()), Err(Stop::Booleans));
        assert_eq!(walk(&[&[0x1a], &list[1..], &[0]].concat()), Err(Stop::Booleans));
        assert_eq!(walk(&[0x1b, 0xff, 0x7f, 0x12, 0]), Err(Stop::Booleans));
    }

    #[test]
    fn everything_else_is_left_to_the_decoder() {
        let sound: [&[u8]; 6] = [
            &[0],
            &[0x11, 0x12, 0],                         // two booleans
            &[0x15, 0x80, 0x01, 0],                   // a number
            &[0x18, 3, b'a', b'b', b'c', 0],          // a text
            &[0x19, 0x25, 1, 2, 0],                   // a list of two numbers
            &[0x1b, 1, 0x51, 7, 0x0c, 0x20, 0, 0, 0], // a map, and a structure with a full id
        ];
        for bytes in sound {
            assert_eq!(walk(bytes), Ok(()), "{bytes:?}");
        }
        // A list that claims more than there is, a number without an end, an unknown type.
        for bytes in [&[0x19, 0xf5, 0xff, 0x7f, 1][..], &[0x15, 0xff, 0xff], &[0x1e], &[]] {
            assert_eq!(walk(bytes), Err(Stop::Malformed), "{bytes:?}");
        }
        assert_eq!(walk(&[0x1c; 1000]), Err(Stop::Malformed), "nested too deep");
    }
}
