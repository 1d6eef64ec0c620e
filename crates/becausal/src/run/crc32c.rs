//! The checksum of TensorBoard's records: CRC-32C, masked.

/// The polynomial of Castagnoli, reflected.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// CRC-32C of some bytes.
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut rest = !0_u32;
    for &byte in bytes {
        rest ^= u32::from(byte);
        for _ in 0..8 {
            rest = (rest >> 1) ^ (POLYNOMIAL & (rest & 1).wrapping_neg());
        }
    }
    !rest
}

/// The checksum as it stands in a record: rotated and moved, because a CRC of bytes that
/// contain their own CRC is unsafe.
#[must_use]
pub fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46DD_794E);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
