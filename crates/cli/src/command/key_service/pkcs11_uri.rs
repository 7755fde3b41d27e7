//! PKCS#11 URIs (RFC 7512): which token, which key, which module, where the PIN is.

use std::path::PathBuf;

/// A parsed URI. What is `None` or absent is not compared.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Pkcs11Uri {
    /// The token's label.
    pub token: Option<String>,
    /// The token's manufacturer.
    pub manufacturer: Option<String>,
    /// The token's model.
    pub model: Option<String>,
    /// The token's serial number.
    pub serial: Option<String>,
    /// The number of the slot.
    pub slot_id: Option<u64>,
    /// The key's label.
    pub object: Option<String>,
    /// The key's id.
    pub id: Option<Vec<u8>>,
    /// Whether the key is symmetric: `type=secret-key`, or `type=private` and `type=public`.
    pub is_secret_key: Option<bool>,
    /// The module.
    pub module_path: Option<PathBuf>,
    /// The file of the PIN.
    pub pin_source: Option<PathBuf>,
}

/// Parses a URI; the error says what is wrong with it, without a value, which may be a PIN.
pub fn parse(text: &str) -> Result<Pkcs11Uri, String> {
    let rest = text.strip_prefix("pkcs11:").ok_or("a URI begins with pkcs11:")?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut uri = Pkcs11Uri::default();
    for (name, value) in attributes(path, ';')? {
        let text = |value: Vec<u8>| String::from_utf8(value).map_err(|_| format!("{name} is not UTF-8"));
        match name {
            "token" => set(&mut uri.token, name, text(value)?)?,
            "manufacturer" => set(&mut uri.manufacturer, name, text(value)?)?,
            "model" => set(&mut uri.model, name, text(value)?)?,
            "serial" => set(&mut uri.serial, name, text(value)?)?,
            "object" => set(&mut uri.object, name, text(value)?)?,
            "id" => set(&mut uri.id, name, value)?,
            "slot-id" => {
                let number = text(value)?.parse().map_err(|_| "slot-id is not a number")?;
                set(&mut uri.slot_id, name, number)?;
            }
            "type" => {
                let is_secret_key = match text(value)?.as_str() {
                    "secret-key" => true,
                    "private" | "public" => false,
                    _ => return Err("type is secret-key, private or public".to_owned()),
                };
                set(&mut uri.is_secret_key, name, is_secret_key)?;
            }
            "library-manufacturer"
            | "library-description"
            | "library-version"
            | "slot-manufacturer"
            | "slot-description" => return Err(format!("{name} is not supported: name the token and the module-path")),
            _ => return Err(format!("no attribute is called {}", name.escape_debug())),
        }
    }
    for (name, value) in attributes(query, '&')? {
        let path = |value: Vec<u8>| String::from_utf8(value).map_err(|_| format!("{name} is not UTF-8"));
        match name {
            "module-path" => set(&mut uri.module_path, name, path(value)?.into())?,
            "pin-source" => {
                let source = path(value)?;
                let file = source.strip_prefix("file://").or_else(|| source.strip_prefix("file:"));
                let file = file.unwrap_or(&source);
                if file.starts_with('|') {
                    return Err("pin-source is a file".to_owned());
                }
                set(&mut uri.pin_source, name, file.into())?;
            }
            "pin-value" => return Err("pin-value is the PIN itself: put it into a file, and use pin-source".to_owned()),
            "module-name" => return Err("module-name is not supported: use module-path".to_owned()),
            _ => return Err(format!("no attribute is called {}", name.escape_debug())),
        }
    }
    Ok(uri)
}

/// Names, and values without percent-encoding.
fn attributes(text: &str, separator: char) -> Result<Vec<(&str, Vec<u8>)>, String> {
    let parts = text.split(separator).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').ok_or("an attribute without =")?;
            let value = decoded(value)
                .ok_or_else(|| format!("a % of {} is not followed by two digits", name.escape_debug()))?;
            Ok((name, value))
        })
        .collect()
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? << 4 | digit()?).ok()?
        } else {
            byte
        };
        out.push(byte);
    }
    Some(out)
}

/// RFC 7512, 2.3: an attribute stands there once.
fn set<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name} stands there twice")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 7512, 3, without the attributes that are refused.
    #[test]
    fn attributes_are_decoded() {
        let uri = parse(
            "pkcs11:token=Software%20PKCS%2311%20softtoken;manufacturer=Snake%20Oil,%20Inc.;model=1.0;serial=;\
             object=my-certificate;type=private;id=%69%95%3E%5C%F4%BD%EC%91?pin-source=file:/etc/token_pin&\
             module-path=/usr/lib/x.so",
        )
        .unwrap();
        assert_eq!(uri.token.as_deref(), Some("Software PKCS#11 softtoken"));
        assert_eq!(uri.manufacturer.as_deref(), Some("Snake Oil, Inc."));
        assert_eq!(uri.serial.as_deref(), Some(""));
        assert_eq!(uri.id.as_deref(), Some(&b"\x69\x95\x3e\x5c\xf4\xbd\xec\x91"[..]));
        assert_eq!(uri.is_secret_key, Some(false));
        assert_eq!(uri.pin_source, Some("/etc/token_pin".into()));
        assert_eq!(uri.module_path, Some("/usr/lib/x.so".into()));
        assert_eq!(parse("pkcs11:"), Ok(Pkcs11Uri::default()));
        assert_eq!(parse("pkcs11:slot-id=7").unwrap().slot_id, Some(7));
    }

    #[test]
    fn what_is_wrong_is_named_without_a_value() {
        for (text, said) in [
            ("token=a", "begins with pkcs11:"),
            ("pkcs11:token", "without ="),
            ("pkcs11:token=a;token=b", "token stands there twice"),
            ("pkcs11:token=%4", "two digits"),
            ("pkcs11:token=%ff", "token is not UTF-8"),
            ("pkcs11:slot-id=x", "slot-id is not a number"),
            ("pkcs11:type=cert", "type is"),
            ("pkcs11:tokne=a", "no attribute is called tokne"),
            ("pkcs11:library-version=3", "not supported"),
            ("pkcs11:object=a?pin-value=SECRET", "use pin-source"),
            ("pkcs11:object=a?pin-source=|/bin/SECRET", "pin-source is a file"),
            ("pkcs11:object=a?module-name=x", "use module-path"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said) && !error.contains("SECRET"), "{text}: {error}");
        }
    }
}
