//! The safetensors format: named blocks of numbers in a file that contains no code.
//!
//! The first eight bytes are the length of a JSON header. The header lists each tensor with its
//! name, type, shape and offsets. The numbers follow. All is little-endian.

use serde_json::{Map, Value, json};

use super::block::{Block, Shape};

/// Maximum length of a header in bytes.
const MAX_HEADER_BYTES: usize = 16 << 20;

/// Named blocks as a safetensors file.
#[must_use]
pub fn to_safetensors<'a>(blocks: impl Iterator<Item = (String, &'a Block)>) -> Vec<u8> {
    let mut header = Map::new();
    let mut numbers: Vec<u8> = Vec::new();
    for (name, block) in blocks {
        let from = numbers.len();
        numbers.extend(block.values.iter().flat_map(|value| value.to_le_bytes()));
        let Shape { groups, rows, columns } = block.shape;
        let entry = json!({
            "dtype": "F32",
            "shape": [groups, rows, columns],
            "data_offsets": [from, numbers.len()],
        });
        header.insert(name, entry);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // The numbers start at a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.append(&mut header);
    file.append(&mut numbers);
    file
}

/// The named blocks of a safetensors file, in the order of the header.
///
/// # Errors
/// A message that says what is wrong with the file.
pub fn from_safetensors(file: &[u8]) -> Result<Vec<(String, Block)>, String> {
    let (length, rest) = file.split_first_chunk::<8>().ok_or("it ends before its header")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > MAX_HEADER_BYTES || length > rest.len() {
        return Err(format!("its header claims {length} bytes, more than the file has"));
    }
    let (header, numbers) = rest.split_at(length);
    let header: Map<String, Value> = serde_json::from_slice(header)
        .map_err(|error| format!("its header is not valid JSON: {error}"))?;
    let mut used = 0;
    let mut blocks = Vec::with_capacity(header.len());
    for (name, entry) in header {
        if name == "__metadata__" {
            continue;
        }
        let block = tensor(&entry, numbers, &mut used)
            .ok_or_else(|| format!("`{name}` does not describe a block of numbers in the file"))?;
        blocks.push((name, block));
    }
    if used != numbers.len() {
        return Err(format!("it has {} bytes of numbers, expected {used}", numbers.len()));
    }
    Ok(blocks)
}

/// A tensor that starts where the last one ended.
fn tensor(entry: &Value, numbers: &[u8], used: &mut usize) -> Option<Block> {
    let whole = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    if entry.get("dtype")?.as_str()? != "F32" {
        return None;
    }
    let list = |key| entry.get(key)?.as_array()?.iter().map(whole).collect::<Option<Vec<_>>>();
    let [groups, rows, columns] = list("shape")?[..] else { return None };
    let [from, to] = list("data_offsets")?[..] else { return None };
    let bytes = groups.checked_mul(rows)?.checked_mul(columns)?.checked_mul(4)?;
    if from != *used || to.checked_sub(from)? != bytes {
        return None;
    }
    *used = to;
    let each = numbers.get(from..to)?.chunks_exact(4);
    let values = each.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Some(Block::new(Shape::new(groups, rows, columns), values.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<u8> {
        let a = Block::new(Shape::new(1, 2, 2), vec![1.0, -2.5, 3.0, f32::MIN_POSITIVE]);
        let b = Block::new(Shape::new(1, 1, 1), vec![7.0]);
        to_safetensors([("a".to_owned(), &a), ("b".to_owned(), &b)].into_iter())
    }

    #[test]
    fn written_blocks_are_read_back() {
        let blocks = from_safetensors(&example()).unwrap();
        assert_eq!(blocks[0].0, "a");
        assert_eq!(blocks[0].1.values, [1.0, -2.5, 3.0, f32::MIN_POSITIVE]);
        assert_eq!(blocks[1].1.shape, Shape::new(1, 1, 1));
    }

    #[test]
    fn every_truncated_file_is_rejected() {
        let file = example();
        for length in 0..file.len() {
            assert!(from_safetensors(&file[..length]).is_err(), "{length} bytes");
        }
        let mut huge = file;
        huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(from_safetensors(&huge).unwrap_err().contains("claims"));
    }
}
