//! The key of one session: seals and opens single pages (FORMAT 5).
//!
//! - place-is-authenticated: the tag covers the place of a page (database, number, epoch, suite).
//!   The key depends on its session.
//! - no-allocation: all memory beyond the caller's buffers is on the stack.
//! - zeros-on-failure: a failed opening leaves `out` zero.

mod aead;
#[cfg(not(feature = "fips"))]
mod aegis;
mod copy;
mod ctr_hmac;
mod none;
#[cfg(not(feature = "fips"))]
mod triple_des;
#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
mod vaes_gcm;
#[cfg(test)]
mod wycheproof;

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Algorithm};
#[cfg(not(feature = "fips"))]
use aws_lc_rs::aead::{AES_192_GCM, CHACHA20_POLY1305};
use aws_lc_rs::hmac;

use self::aead::Aead;
#[cfg(not(feature = "fips"))]
use self::aegis::{Aegis128X4, Aegis256X4};
use self::copy::copy;
use self::ctr_hmac::CtrHmac;
#[cfg(not(feature = "fips"))]
use self::triple_des::TripleDes;
#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
use self::vaes_gcm::VaesGcm;
#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
pub use self::vaes_gcm::prefer_aws_lc;
use crate::trailer::TRAILER_HEAD_SIZE;
use crate::{
    DataKey, DatabaseId, Epoch, PageNo, PageNonce, Secret, SessionId, Suite, TRAILER_SIZE, Trailer, Unauthentic,
};

/// The key under which a session seals its pages.
pub struct PageKey {
    database_id: DatabaseId,
    epoch: Epoch,
    session: SessionId,
    body: Body,
}

impl DataKey {
    /// Derives the page key of a session. This costs about as much as sealing a page: keep the key.
    pub fn page_key(&self, session: SessionId) -> PageKey {
        PageKey::new(self, session)
    }
}

impl PageKey {
    pub(crate) fn new(data_key: &DataKey, session: SessionId) -> Self {
        Self {
            database_id: data_key.database_id(),
            epoch: data_key.epoch(),
            session,
            body: Body::new(data_key, session),
        }
    }

    /// The epoch of the key.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The session of the key.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The suite of the key.
    pub fn suite(&self) -> Suite {
        self.body.suite()
    }

    /// Seals the first P-48 bytes of a page into `out`, which has the same length, and fills `trailer`.
    ///
    /// The caller's duty is that of [`PageNonce`].
    ///
    /// # Panics
    /// If `nonce` is of another session, the sizes are wrong, or the suite is not [sealed](Suite::is_sealed_here) in
    /// this build: a bug of the caller.
    pub fn seal(
        &self,
        page_no: PageNo,
        nonce: &PageNonce,
        plain: &[u8],
        out: &mut [u8],
        trailer: &mut [u8; TRAILER_SIZE],
    ) {
        assert_eq!(nonce.session, self.session, "the key is of another session");
        assert_eq!(plain.len(), out.len());
        let mut fields = Trailer {
            epoch: self.epoch,
            nonce: *nonce,
            tag: [0; 16],
        };
        let aad = self.associated_data(page_no);
        fields.tag = match &self.body {
            Body::None => {
                copy(plain, out);
                none::tag(&aad, &fields, plain)
            }
            Body::Aead(_, key) => key.seal(&aad, nonce, plain, out),
            #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
            Body::VaesGcm(_, key) => key.seal(&aad, nonce, plain, out),
            #[cfg(not(feature = "fips"))]
            Body::Aegis128X4(key) => key.seal(&aad, nonce, plain, out),
            #[cfg(not(feature = "fips"))]
            Body::Aegis256X4(key) => key.seal(&aad, nonce, plain, out),
            #[cfg(not(feature = "fips"))]
            Body::TripleDes(key) => key.seal(&aad, &fields, plain, out),
            Body::CtrHmac(key) => {
                copy(plain, out);
                key.seal_in_place(&aad, &fields, out)
            }
            #[cfg(feature = "fips")]
            Body::Refused(suite) => panic!("the FIPS build does not seal in {suite}"),
        };
        *trailer = fields.encode();
    }

    /// Opens a page that [`PageKey::seal`] sealed. `out` has the length of `sealed`, and is zero on failure.
    ///
    /// # Errors
    /// The page was sealed under another key or for another place, or was altered.
    pub fn open(
        &self,
        page_no: PageNo,
        sealed: &[u8],
        trailer: &[u8; TRAILER_SIZE],
        out: &mut [u8],
    ) -> Result<(), Unauthentic> {
        self.open_or_leave_partial(page_no, sealed, &Trailer::parse(trailer), out)
            .inspect_err(|Unauthentic| out.fill(0))
    }

    /// Opens in place a page that [`PageKey::seal`] sealed. `body` is zero on failure. Suites that
    /// need a copy of the page make it in `scratch`, which has the same length.
    ///
    /// # Errors
    /// As [`PageKey::open`].
    pub fn open_in_place(
        &self,
        page_no: PageNo,
        body: &mut [u8],
        trailer: &[u8; TRAILER_SIZE],
        scratch: &mut [u8],
    ) -> Result<(), Unauthentic> {
        self.open_here_or_leave_partial(page_no, body, &Trailer::parse(trailer), scratch)
            .inspect_err(|Unauthentic| body.fill(0))
    }

    fn open_here_or_leave_partial(
        &self,
        page_no: PageNo,
        body: &mut [u8],
        trailer: &Trailer,
        scratch: &mut [u8],
    ) -> Result<(), Unauthentic> {
        if !self.is_of(trailer) {
            return Err(Unauthentic);
        }
        let aad = self.associated_data(page_no);
        match &self.body {
            Body::None => none::check(&aad, trailer, body),
            #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
            Body::VaesGcm(_, key) => key.open_in_place(&aad, trailer, body),
            #[cfg(not(feature = "fips"))]
            Body::Aegis128X4(key) => key.open_in_place(&aad, trailer, body),
            #[cfg(not(feature = "fips"))]
            Body::Aegis256X4(key) => key.open_in_place(&aad, trailer, body),
            Body::CtrHmac(key) => key.open_in_place(&aad, trailer, body),
            Body::Aead(..) => {
                copy(body, scratch);
                self.open_or_leave_partial(page_no, scratch, trailer, body)
            }
            #[cfg(not(feature = "fips"))]
            Body::TripleDes(_) => {
                copy(body, scratch);
                self.open_or_leave_partial(page_no, scratch, trailer, body)
            }
            #[cfg(feature = "fips")]
            Body::Refused(_) => Err(Unauthentic),
        }
    }

    /// Whether epoch and session of the trailer are those of this key. Not every suite's tag covers
    /// them, so this check authenticates them.
    fn is_of(&self, trailer: &Trailer) -> bool {
        trailer.epoch == self.epoch && trailer.nonce.session == self.session
    }

    fn open_or_leave_partial(
        &self,
        page_no: PageNo,
        sealed: &[u8],
        trailer: &Trailer,
        out: &mut [u8],
    ) -> Result<(), Unauthentic> {
        if sealed.len() != out.len() || !self.is_of(trailer) {
            return Err(Unauthentic);
        }
        let aad = self.associated_data(page_no);
        match &self.body {
            Body::None => {
                none::check(&aad, trailer, sealed)?;
                copy(sealed, out);
                Ok(())
            }
            Body::Aead(_, key) => key.open(&aad, trailer, sealed, out),
            #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
            Body::VaesGcm(_, key) => {
                copy(sealed, out);
                key.open_in_place(&aad, trailer, out)
            }
            #[cfg(not(feature = "fips"))]
            Body::Aegis128X4(key) => {
                copy(sealed, out);
                key.open_in_place(&aad, trailer, out)
            }
            #[cfg(not(feature = "fips"))]
            Body::Aegis256X4(key) => {
                copy(sealed, out);
                key.open_in_place(&aad, trailer, out)
            }
            #[cfg(not(feature = "fips"))]
            Body::TripleDes(key) => key.open(&aad, trailer, sealed, out),
            Body::CtrHmac(key) => {
                copy(sealed, out);
                key.open_in_place(&aad, trailer, out)
            }
            #[cfg(feature = "fips")]
            Body::Refused(_) => Err(Unauthentic),
        }
    }

    /// The associated data of a page (FORMAT 5.2).
    fn associated_data(&self, page_no: PageNo) -> [u8; ASSOCIATED_DATA_SIZE] {
        let mut bytes = [0; ASSOCIATED_DATA_SIZE];
        bytes[..2].copy_from_slice(&FORMAT_VERSION.to_be_bytes());
        bytes[2..18].copy_from_slice(&self.database_id.0);
        bytes[18..22].copy_from_slice(&page_no.0.to_be_bytes());
        bytes[22..26].copy_from_slice(&self.epoch.0.to_be_bytes());
        bytes[26..].copy_from_slice(&self.suite().id().to_be_bytes());
        bytes
    }
}

/// The expanded key of each suite.
enum Body {
    None,
    Aead(Suite, Aead),
    #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
    VaesGcm(Suite, VaesGcm),
    #[cfg(not(feature = "fips"))]
    Aegis128X4(Aegis128X4),
    #[cfg(not(feature = "fips"))]
    Aegis256X4(Aegis256X4),
    #[cfg(not(feature = "fips"))]
    TripleDes(Box<TripleDes>),
    CtrHmac(Box<CtrHmac>),
    /// A suite that the FIPS build does not open.
    #[cfg(feature = "fips")]
    Refused(Suite),
}

/// Has no effect: AWS-LC is the only library on this architecture and in the FIPS build.
#[cfg(any(not(target_arch = "x86_64"), feature = "fips"))]
pub fn prefer_aws_lc() {}

impl Body {
    fn new(data_key: &DataKey, session: SessionId) -> Self {
        let suite = data_key.suite();
        match suite {
            Suite::None => Body::None,
            Suite::Aes128 => Body::gcm(suite, &AES_128_GCM, &data_key.expand::<16>(session)),
            Suite::Aes256 => Body::gcm(suite, &AES_256_GCM, &data_key.expand::<32>(session)),
            Suite::Aes256CtrHmac => Body::CtrHmac(Box::new(CtrHmac::new(&data_key.expand(session)))),
            #[cfg(feature = "fips")]
            Suite::Aes192 | Suite::ChaCha20 | Suite::Aegis128X4 | Suite::Aegis256X4 | Suite::TripleDes3Key => {
                Body::Refused(suite)
            }
            #[cfg(not(feature = "fips"))]
            Suite::Aes192 => Body::Aead(suite, Aead::new(&AES_192_GCM, &data_key.expand::<24>(session))),
            #[cfg(not(feature = "fips"))]
            Suite::ChaCha20 => Body::Aead(suite, Aead::new(&CHACHA20_POLY1305, &data_key.expand::<32>(session))),
            #[cfg(not(feature = "fips"))]
            Suite::Aegis128X4 => Body::Aegis128X4(Aegis128X4::new(data_key.expand(session))),
            #[cfg(not(feature = "fips"))]
            Suite::Aegis256X4 => Body::Aegis256X4(Aegis256X4::new(data_key.expand(session))),
            #[cfg(not(feature = "fips"))]
            Suite::TripleDes3Key => Body::TripleDes(Box::new(TripleDes::new(&data_key.expand(session)))),
        }
    }

    /// AES-GCM, by the faster library on this machine.
    fn gcm<const N: usize>(suite: Suite, algorithm: &'static Algorithm, key: &Secret<N>) -> Self {
        #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
        if VaesGcm::is_faster() {
            return Body::VaesGcm(suite, VaesGcm::new(key));
        }
        Body::Aead(suite, Aead::new(algorithm, key))
    }

    fn suite(&self) -> Suite {
        match self {
            Body::None => Suite::None,
            Body::Aead(suite, _) => *suite,
            #[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
            Body::VaesGcm(suite, _) => *suite,
            #[cfg(not(feature = "fips"))]
            Body::Aegis128X4(_) => Suite::Aegis128X4,
            #[cfg(not(feature = "fips"))]
            Body::Aegis256X4(_) => Suite::Aegis256X4,
            #[cfg(not(feature = "fips"))]
            Body::TripleDes(_) => Suite::TripleDes3Key,
            Body::CtrHmac(_) => Suite::Aes256CtrHmac,
            #[cfg(feature = "fips")]
            Body::Refused(suite) => *suite,
        }
    }
}

/// The tag of the suites that encrypt, and then authenticate by HMAC-SHA-256 (FORMAT 5.2).
fn hmac_tag(key: &hmac::Key, aad: &[u8], trailer: &Trailer, sealed: &[u8]) -> [u8; 16] {
    let head = trailer.encode();
    let mut mac = hmac::Context::with_key(key);
    mac.update(aad);
    mac.update(&head[..TRAILER_HEAD_SIZE]);
    mac.update(sealed);
    let mut tag = [0; 16];
    tag.copy_from_slice(&mac.sign().as_ref()[..16]);
    tag
}

/// The version of the format in the associated data.
const FORMAT_VERSION: u16 = 1;

const ASSOCIATED_DATA_SIZE: usize = 28;
