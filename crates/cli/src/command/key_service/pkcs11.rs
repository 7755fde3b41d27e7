//! A key in a token, by its PKCS#11 module.
//!
//! - key-stays-inside: the module wraps and unwraps; the key itself is never asked for.
//! - algorithm-in-answer: what was wrapped says how, so that other options unwrap it, too.
//! - last-try-is-yours: a token that would lock itself after one more wrong PIN gets none from here.

use std::path::Path;
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11 as Module};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::{AuthPin, Ulong};
use selenite::EngineError;
use selenite_keyring::Config;
use zeroize::Zeroizing;

use super::pin_guard::PinGuard;
use super::pkcs11_uri::{self, Pkcs11Uri};
use super::{PLAIN_SIZE, input, input_to_wrap, output, read_secret, refused, unavailable};
use crate::arguments::key_service::{KeyKind, OaepHash, Pkcs11, Pkcs11Task};
use crate::cli_error::CliError;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &Pkcs11, config: &Config) -> Result<(), CliError> {
    let uri = pkcs11_uri::parse(&arguments.uri).map_err(|what| usage(format!("--uri: {what}")))?;
    let module = arguments.module.as_ref().or(uri.module_path.as_ref());
    let module = module.ok_or_else(|| usage("no module: module-path in the URI, or --module".to_owned()))?;
    let pin_file = arguments.pin_file.clone().or_else(|| uri.pin_source.clone());
    let given = match arguments.task {
        Pkcs11Task::Wrap => input_to_wrap()?,
        Pkcs11Task::Unwrap => input()?,
        Pkcs11Task::Check | Pkcs11Task::Generate { .. } => Zeroizing::default(),
    };
    let guard = pin_file.map(|path| PinGuard::wait(config, path)).transpose()?;
    let token = Token::open(module, &uri)?;
    let session = token.log_in(guard, matches!(arguments.task, Pkcs11Task::Generate { .. }))?;
    match arguments.task {
        Pkcs11Task::Wrap => output(&wrap(&session, &Key::find(&session, &uri)?, arguments.oaep, &given)?),
        Pkcs11Task::Unwrap => output(&unwrap(&session, &Key::find(&session, &uri)?, &given)?),
        Pkcs11Task::Check => {
            let key = Key::find(&session, &uri)?;
            let plain = [7; PLAIN_SIZE];
            let wrapped = wrap(&session, &key, arguments.oaep, &plain)?;
            if *unwrap(&session, &key, &wrapped)? != plain {
                return Err(refused(
                    "the token returned other bytes than it was given",
                    "do not use this key",
                ));
            }
            let algorithm = match wrapped.get(MAGIC.len()) {
                Some(&AES_KEY_WRAP) => "AES key wrap",
                Some(&OAEP_SHA1) => "RSA-OAEP with SHA-1",
                _ => "RSA-OAEP with SHA-256",
            };
            Ok(print(&format!(
                "token      {}\nkey        wraps and unwraps by {algorithm}\n",
                printable::line(token.info.label())
            ))?)
        }
        Pkcs11Task::Generate { kind } => {
            let label = uri.object.as_deref();
            let label = label.ok_or_else(|| usage("object=NAME in the URI names the new key".to_owned()))?;
            generate(&session, &uri, label, kind)?;
            Ok(print(&format!("generated  {}\n", printable::line(label)))?)
        }
    }
}

/// A token that the URI names.
struct Token {
    module: Module,
    slot: Slot,
    info: TokenInfo,
}

impl Token {
    /// The token that all attributes of the URI name, if there is exactly one.
    fn open(path: &Path, uri: &Pkcs11Uri) -> Result<Self, CliError> {
        for pause_ms in [10, 20, 40, 80, 160] {
            if let Some(token) = Self::find(path, uri)? {
                return Ok(token);
            }
            // SoftHSM rewrites the token's file when another process logs in, and meanwhile has no such token.
            std::thread::sleep(Duration::from_millis(pause_ms));
        }
        Self::find(path, uri)?
            .ok_or_else(|| unavailable("no token is there that the URI names", "check that it is plugged in"))
    }

    fn find(path: &Path, uri: &Pkcs11Uri) -> Result<Option<Self>, CliError> {
        let module = Module::new(path).map_err(|error| {
            let what = format!("can't load the module {}: {error}", path.display());
            unavailable(
                what,
                "check the path, and that the module is of this processor and C library",
            )
        })?;
        let how = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        module
            .initialize(how)
            .map_err(|error| failed("initialize the module", &error))?;
        let slots = module
            .get_slots_with_token()
            .map_err(|error| failed("list the tokens", &error))?;
        let mut found = Vec::new();
        for slot in slots {
            // A token that was pulled out meanwhile is none of those that are asked for.
            let Ok(info) = module.get_token_info(slot) else {
                continue;
            };
            let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|wanted| wanted == has);
            if info.token_initialized()
                && is(&uri.token, info.label())
                && is(&uri.manufacturer, info.manufacturer_id())
                && is(&uri.model, info.model())
                && is(&uri.serial, info.serial_number())
                && uri.slot_id.is_none_or(|id| id == slot.id())
            {
                found.push((slot, info));
            }
        }
        match (found.pop(), found.is_empty()) {
            (Some((slot, info)), true) => Ok(Some(Self { module, slot, info })),
            (Some(_), false) => Err(refused("the URI names several tokens", "add serial= to the URI")),
            (None, _) => {
                let ended = module.finalize();
                ended.map_err(|error| failed("end the module", &error))?;
                Ok(None)
            }
        }
    }

    /// A session in which the token's keys can be used.
    fn log_in(&self, guard: Option<PinGuard>, writes: bool) -> Result<Session, CliError> {
        let opened = match writes {
            true => self.module.open_rw_session(self.slot),
            false => self.module.open_ro_session(self.slot),
        };
        let session = opened.map_err(|error| failed("open a session", &error))?;
        if !self.info.login_required() {
            return Ok(session);
        }
        if self.info.user_pin_locked() {
            return Err(locked());
        }
        if self.info.protected_authentication_path() {
            session
                .login(UserType::User, None)
                .map_err(|error| failed("log in at the token", &error))?;
            return Ok(session);
        }
        if self.info.user_pin_final_try() {
            return Err(refused(
                "one more wrong PIN would lock the token: it is not tried from here",
                "log in once by the token's own tools",
            ));
        }
        let mut guard = guard.ok_or_else(|| usage("no PIN: pin-source in the URI, or --pin-file".to_owned()))?;
        let path = guard.pin_file().to_owned();
        let state = guard.state()?;
        let pin = read_secret(&path, PIN_SIZE_MAX)?;
        let text = std::str::from_utf8(&pin).map_err(|_| refused("the PIN is not UTF-8", "correct the file"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            // Perhaps it is being written: that costs no try.
            return Err(refused(
                format!("{} has no PIN", path.display()),
                "write the PIN to that file",
            ));
        }
        // All tokens of a TPM have the same serial number.
        let token = format!("{}-{}", self.info.serial_number(), self.info.label());
        let attempt = guard.attempt(state, &token, self.info.user_pin_count_low())?;
        let answer = session.login(UserType::User, Some(&AuthPin::from(text)));
        match answer {
            Err(Error::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _)) => {
                let noted = guard.refused(&attempt);
                let what = match noted {
                    Ok(()) => format!("the token refused the PIN of {}", path.display()),
                    Err(error) => format!(
                        "the token refused the PIN of {}, which was not noted: {error}",
                        path.display()
                    ),
                };
                Err(refused(
                    what,
                    "write the right PIN to that file: until it changes it is not tried again",
                ))
            }
            answer => {
                // What stays noted costs a look at the token's flag.
                let _ = guard.answered(&attempt);
                match answer {
                    Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(session),
                    // A TPM says so only here.
                    Err(Error::Pkcs11(RvError::PinLocked, _)) => Err(locked()),
                    Err(error) => Err(failed("log in at the token", &error)),
                }
            }
        }
    }
}

/// A key of a token.
enum Key {
    /// A symmetric one.
    Aes(ObjectHandle),
    /// A pair: public, private.
    Rsa(Option<ObjectHandle>, ObjectHandle),
}

impl Key {
    /// The key that the URI names, if there is exactly one.
    fn find(session: &Session, uri: &Pkcs11Uri) -> Result<Self, CliError> {
        let find = |class: ObjectClass, kind: KeyType| -> Result<Vec<ObjectHandle>, CliError> {
            let mut template = vec![Attribute::Class(class), Attribute::KeyType(kind)];
            template.extend(
                uri.object
                    .iter()
                    .map(|label| Attribute::Label(label.clone().into_bytes())),
            );
            template.extend(uri.id.iter().map(|id| Attribute::Id(id.clone())));
            session
                .find_objects(&template)
                .map_err(|error| failed("look for the key", &error))
        };
        let mut aes = Vec::new();
        let mut private = Vec::new();
        if uri.is_secret_key != Some(false) {
            aes = find(ObjectClass::SECRET_KEY, KeyType::AES)?;
        }
        if uri.is_secret_key != Some(true) {
            private = find(ObjectClass::PRIVATE_KEY, KeyType::RSA)?;
        }
        match (aes.as_slice(), private.as_slice()) {
            (&[key], []) => Ok(Self::Aes(key)),
            ([], &[private]) => Ok(Self::Rsa(
                find(ObjectClass::PUBLIC_KEY, KeyType::RSA)?.first().copied(),
                private,
            )),
            ([], []) => Err(refused(
                "the token has no AES or RSA key that the URI names",
                "check object= and id=; to make one: generate",
            )),
            _ => Err(refused("the URI names several keys", "add id= or type= to the URI")),
        }
    }
}

fn wrap(session: &Session, key: &Key, hash: OaepHash, plain: &[u8]) -> Result<Vec<u8>, CliError> {
    let (algorithm, wrapped) = match *key {
        Key::Aes(key) => {
            let object = session.create_object(&secret(Some(plain)));
            let object = object.map_err(|error| failed("hand the token a key to wrap", &error))?;
            let wrapped = session.wrap_key(&Mechanism::AesKeyWrap, key, object);
            (AES_KEY_WRAP, wrapped)
        }
        Key::Rsa(None, _) => {
            return Err(refused(
                "the token has no public key of this name",
                "put it there: it encrypts",
            ));
        }
        Key::Rsa(Some(public), _) => {
            let algorithm = match hash {
                OaepHash::Sha1 => OAEP_SHA1,
                OaepHash::Sha256 => OAEP_SHA256,
            };
            (algorithm, session.encrypt(&oaep(algorithm), public, plain))
        }
    };
    let wrapped = wrapped.map_err(|error| match algorithm {
        OAEP_SHA256 => refused(
            format!("the module can't wrap by RSA-OAEP with SHA-256: {error}"),
            "modules that have SHA-1 alone need --oaep sha1",
        ),
        _ => failed("wrap", &error),
    })?;
    Ok([MAGIC, &[algorithm], wrapped.as_slice()].concat())
}

fn unwrap(session: &Session, key: &Key, given: &[u8]) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let parts = given.strip_prefix(MAGIC).and_then(<[u8]>::split_first);
    let (&algorithm, wrapped) =
        parts.ok_or_else(|| refused("not wrapped by this command", "use the one that wrapped it"))?;
    match (algorithm, key) {
        (AES_KEY_WRAP, &Key::Aes(key)) => {
            let object = session.unwrap_key(&Mechanism::AesKeyWrap, key, wrapped, &secret(None));
            let object = object.map_err(|error| failed("unwrap", &error))?;
            let found = session.get_attributes(object, &[AttributeType::Value]);
            let found = found.map_err(|error| failed("read what was unwrapped", &error))?;
            match found.into_iter().next() {
                Some(Attribute::Value(value)) => Ok(Zeroizing::new(value)),
                _ => Err(refused("the token does not give what it unwrapped", "use an RSA key")),
            }
        }
        (OAEP_SHA1 | OAEP_SHA256, &Key::Rsa(_, private)) => {
            let plain = session.decrypt(&oaep(algorithm), private, wrapped);
            plain.map(Zeroizing::new).map_err(|error| failed("unwrap", &error))
        }
        _ => Err(refused(
            "it was wrapped by a key of another kind",
            "name that key in the URI",
        )),
    }
}

/// The template of a key that exists in a session alone.
fn secret(value: Option<&[u8]>) -> Vec<Attribute> {
    let mut template = vec![
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Private(true),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
    ];
    template.extend(value.map(|value| Attribute::Value(value.to_vec())));
    template
}

fn oaep(algorithm: u8) -> Mechanism<'static> {
    let (hash, mask) = match algorithm {
        OAEP_SHA1 => (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1),
        _ => (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256),
    };
    Mechanism::RsaPkcsOaep(PkcsOaepParams::new(hash, mask, PkcsOaepSource::empty()))
}

fn generate(session: &Session, uri: &Pkcs11Uri, label: &str, kind: KeyKind) -> Result<(), CliError> {
    let named = session.find_objects(&[Attribute::Label(label.as_bytes().to_vec())]);
    let named = named.map_err(|error| failed("look for a key of this name", &error))?;
    if !named.is_empty() {
        return Err(refused("the token has a key of this name", "choose another object="));
    }
    let mut common = vec![Attribute::Token(true), Attribute::Label(label.as_bytes().to_vec())];
    let id = uri.id.clone().unwrap_or_else(|| label.as_bytes().to_vec());
    common.push(Attribute::Id(id));
    let mut hidden = common.clone();
    hidden.extend([
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
    ]);
    let made = match kind {
        KeyKind::Aes => {
            hidden.extend([
                Attribute::ValueLen(Ulong::from(AES_KEY_SIZE)),
                Attribute::Wrap(true),
                Attribute::Unwrap(true),
            ]);
            session.generate_key(&Mechanism::AesKeyGen, &hidden).map(drop)
        }
        KeyKind::Rsa | KeyKind::Rsa2048 => {
            let bits = if kind == KeyKind::Rsa { RSA_BITS } else { RSA_BITS_MIN };
            hidden.push(Attribute::Decrypt(true));
            common.extend([
                Attribute::Encrypt(true),
                Attribute::ModulusBits(Ulong::from(bits)),
                Attribute::PublicExponent(vec![1, 0, 1]),
            ]);
            session
                .generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &common, &hidden)
                .map(drop)
        }
    };
    made.map_err(|error| match (kind, &error) {
        (KeyKind::Aes, Error::Pkcs11(RvError::FunctionNotSupported, _)) => {
            refused("the module generates no AES keys", "add --kind rsa")
        }
        _ => failed("generate the key", &error),
    })
}

fn locked() -> CliError {
    refused("the token has locked its PIN", "unlock it by the token's own tools")
}

fn usage(what: String) -> CliError {
    CliError::Engine(EngineError::Usage {
        what,
        next: "see selenite key-service pkcs11 --help".to_owned(),
    })
}

/// An error of the module. Its texts are fixed ones for each code.
fn failed(task: &str, error: &Error) -> CliError {
    let next = "check that the token is there, and what the module needs";
    if let Error::Pkcs11(code, function) = error {
        let what = format!("the module can't {task}: {code:?} of {function}");
        return if is_refusal(code) {
            refused(what, "")
        } else {
            unavailable(what, next)
        };
    }
    unavailable(format!("the module can't {task}: {error}"), next)
}

/// Whether the token works, and does not do this.
fn is_refusal(code: &RvError) -> bool {
    matches!(
        code,
        RvError::EncryptedDataInvalid
            | RvError::EncryptedDataLenRange
            | RvError::WrappedKeyInvalid
            | RvError::WrappedKeyLenRange
            | RvError::KeyFunctionNotPermitted
            | RvError::KeyNotWrappable
            | RvError::KeyUnextractable
            | RvError::MechanismInvalid
            | RvError::MechanismParamInvalid
            | RvError::AttributeSensitive
            | RvError::PinExpired
            | RvError::PinLocked
    )
}

/// The beginning of what this command wraps, with a version.
const MAGIC: &[u8] = b"SelP11\x01";
/// AES key wrap, RFC 3394.
const AES_KEY_WRAP: u8 = 1;
/// RSA-OAEP, RFC 8017, with SHA-1 and MGF1 of SHA-1.
const OAEP_SHA1: u8 = 2;
/// The same with SHA-256.
const OAEP_SHA256: u8 = 3;
const AES_KEY_SIZE: std::ffi::c_ulong = 32;
const RSA_BITS: std::ffi::c_ulong = 3072;
/// NIST SP 800-131A: shorter ones are not allowed.
const RSA_BITS_MIN: std::ffi::c_ulong = 2048;
/// Longer than any token's PIN.
const PIN_SIZE_MAX: usize = 4096;
