//! Finds the format of a database by its first page.

use std::ops::ControlFlow;

use crate::format::{Format, SqlCipherFormat};
use crate::header::Visible;
use crate::{AegisVariant, Codec, Key};

/// A format that opens a database.
pub struct Found {
    /// The format, with the settings that were found.
    pub format: Format,
    /// The codec.
    pub codec: Codec,
    /// The page size in bytes.
    pub page_size: u32,
}

/// Tries formats one after the other on the first bytes of a database, up to 65,536 of them.
/// `trying` is called before each, and ends the search by `Break`.
///
/// For each format all page sizes are tried that it leaves open, and SQLCipher without a MAC after
/// SQLCipher with one.
pub fn find(
    formats: &[Format],
    key: &Key,
    head: &[u8],
    trying: &mut dyn FnMut(&Format) -> ControlFlow<()>,
) -> Option<Found> {
    for format in formats {
        for format in variants(format, formats.len() > 1) {
            if !may_fit(&format, head) {
                continue;
            }
            if trying(&format).is_break() {
                return None;
            }
            if let Some(codec) = Codec::derive(&format, key, head)
                && let Some(page_size) = page_size_of(&format, &codec, head)
            {
                let mut format = format;
                format.set_page_size(page_size);
                return Some(Found {
                    format,
                    codec,
                    page_size,
                });
            }
        }
    }
    None
}

/// The format itself; where many formats are tried, also the settings of it that are not told by
/// its name.
fn variants(format: &Format, is_search: bool) -> Vec<Format> {
    match format {
        Format::SqlCipher(own) if is_search && own.hmac.is_some() => {
            let without = SqlCipherFormat { hmac: None, ..*own };
            vec![format.clone(), Format::SqlCipher(without)]
        }
        &Format::Aegis {
            variant,
            t_cost,
            m_cost,
            p_cost,
            plaintext_header,
        } if is_search => AegisVariant::ALL
            .into_iter()
            .filter(|other| other.key_size() == variant.key_size())
            .map(|variant| Format::Aegis {
                variant,
                t_cost,
                m_cost,
                p_cost,
                plaintext_header,
            })
            .collect(),
        Format::SqlCipher(_)
        | Format::ChaCha20 { .. }
        | Format::Aegis { .. }
        | Format::Ascon { .. }
        | Format::WxAes { .. }
        | Format::Rc4 { .. } => vec![format.clone()],
    }
}

/// Whether the unencrypted bytes of the file admit the format, before a key is derived.
fn may_fit(format: &Format, head: &[u8]) -> bool {
    let Some(visible) = Visible::parse(head) else {
        return !format.is_visible();
    };
    let reserve = usize::from(visible.reserve);
    match format {
        // Ciphertext looks like a header once in 2^40 files.
        Format::SqlCipher(own) if own.is_visible || own.plaintext_header >= 24 => [0, own.reserve()].contains(&reserve),
        Format::ChaCha20 { is_legacy: false, .. } | Format::Ascon { .. } => [0, 32].contains(&reserve),
        Format::Aegis { variant, .. } => reserve == variant.key_size() + 32,
        Format::WxAes { is_legacy: false, .. } => true,
        Format::SqlCipher(_) | Format::ChaCha20 { .. } | Format::WxAes { .. } | Format::Rc4 { .. } => false,
    }
}

fn page_size_of(format: &Format, codec: &Codec, head: &[u8]) -> Option<u32> {
    let visible = Visible::parse(head).filter(|_| format.is_visible());
    let sizes = match (visible, format.page_size()) {
        (Some(visible), _) => vec![visible.page_size],
        (None, Some(size)) => vec![size],
        (None, None) => PAGE_SIZES.to_vec(),
    };
    sizes.into_iter().find(|&size| {
        let page = usize::try_from(size).ok().and_then(|size| head.get(..size));
        page.is_some_and(|page| codec.opens(page))
    })
}

/// The products' defaults first: 4096 since SQLCipher 4, 1024 before.
const PAGE_SIZES: [u32; 8] = [4096, 1024, 8192, 16384, 32768, 65536, 2048, 512];
