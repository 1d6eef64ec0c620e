//! What the fuzz targets share: files in memory, a limit on memory, and small schemas.
//!
//! A target reads its input as a file of one format. It must never panic, never ask for memory far
//! beyond the size of the input, and what was read and written again must read the same.

pub mod fixtures;
mod input;
mod memory;

pub use input::{InputFile, scratch};
pub use memory::bounded;

/// The text of an input. Inputs that are not UTF-8 are read as far as they are: an editor's file
/// may have such bytes, but the readers of text never see them.
#[must_use]
pub fn text(input: &[u8]) -> &str {
    match std::str::from_utf8(input) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&input[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Makes the panic hook silent inside the Parquet decoder, whose panics the reader catches.
///
/// libFuzzer's own hook ends the process at every panic, before anything can catch it.
pub fn allow_panics_of_the_parquet_decoder() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !becausal::data::is_decoding_parquet() {
                before(panic);
            }
        }));
    });
}
