//! The last 48 bytes of a sealed page (FORMAT 5.1).
//!
//! `selenite-cipher` computes and checks tags.

use selenite_cipher::TRAILER_SIZE;
pub use selenite_cipher::Trailer;

/// Parses a trailer. Any 48 bytes are valid.
pub fn split(bytes: &[u8; TRAILER_SIZE]) -> Trailer {
    Trailer::parse(bytes)
}

/// Encodes a trailer.
pub fn join(trailer: &Trailer) -> [u8; TRAILER_SIZE] {
    trailer.encode()
}

/// The ciphertext of a sealed image, and its trailer; `None` if the image is shorter than a trailer.
pub fn split_image(image: &[u8]) -> Option<(&[u8], &[u8; TRAILER_SIZE])> {
    image.split_last_chunk()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document;

    #[test]
    fn fields_are_those_of_the_document() {
        let spans = document::spans("5.1");
        assert_eq!(document::end(&spans), TRAILER_SIZE);
        let mut bytes = [0; TRAILER_SIZE];
        for (byte, index) in bytes.iter_mut().zip(0..) {
            *byte = index;
        }
        let trailer = split(&bytes);
        let fields = [
            trailer.epoch.0.to_be_bytes().to_vec(),
            trailer.nonce.session.0.to_vec(),
            trailer.nonce.salt.to_vec(),
            trailer.nonce.counter.to_be_bytes().to_vec(),
            trailer.tag.to_vec(),
        ];
        assert_eq!(spans.len(), fields.len());
        for ((offset, size), field) in spans.into_iter().zip(fields) {
            assert_eq!(bytes[offset..offset + size], field);
        }
    }

    #[test]
    fn split_image_leaves_the_trailer_last() {
        let image: Vec<u8> = (0..=255).collect();
        let (ciphertext, trailer) = split_image(&image).unwrap();
        assert_eq!((ciphertext.len(), trailer[0]), (208, 208));
        assert_eq!(split_image(&image[..47]), None);
    }

    proptest! {
        #[test]
        fn join_reverses_split(bytes: [u8; TRAILER_SIZE]) {
            prop_assert_eq!(join(&split(&bytes)), bytes);
        }
    }
}
