//! The files `~/.aws/credentials` and `~/.aws/config`, with respect to keys, region and endpoint.
//!
//! `object_store` does not read them. They resemble INI files with differences: values have no
//! quotes and no escapes, a comment after a value needs a blank before it, and indented lines
//! belong to the property above (docs.aws.amazon.com/sdkref/latest/guide/file-format.html).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The content of one of these files.
#[derive(Default)]
pub struct Profiles {
    sections: BTreeMap<String, Properties>,
}

/// A section's properties by lower-case name. A nested property is `above.below`.
pub type Properties = BTreeMap<String, String>;

impl Profiles {
    /// Reads a file; it is no error if it does not exist.
    ///
    /// # Errors
    /// A message without any part of the input.
    pub fn load(path: &Path) -> Result<Self, (io::ErrorKind, String)> {
        let shown = path.display();
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(SIZE_MAX + 1).read_to_string(&mut text));
        match read {
            Ok(size) if size as u64 > SIZE_MAX => Err((io::ErrorKind::InvalidData, format!("{shown} is too long"))),
            Ok(_) => Self::parse(&text).map_err(|line| {
                let what = format!("line {line} of {shown} is neither [SECTION] nor NAME = VALUE");
                (io::ErrorKind::InvalidData, what)
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err((error.kind(), format!("can't read {shown}: {error}"))),
        }
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// The number of the first invalid line.
    pub fn parse(text: &str) -> Result<Self, usize> {
        let mut sections: BTreeMap<String, Properties> = BTreeMap::new();
        let mut section = None;
        // The last property, and its indentation.
        let mut above: Option<(String, usize)> = None;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line_index, line) in text.lines().enumerate() {
            let bare = line.trim();
            if bare.is_empty() || bare.starts_with(['#', ';']) {
                continue;
            }
            if let Some(rest) = bare.strip_prefix('[') {
                let (name, behind) = rest.split_once(']').ok_or(line_index + 1)?;
                if !behind.trim_start().is_empty() && !behind.trim_start().starts_with(['#', ';']) {
                    return Err(line_index + 1);
                }
                section = Some(section_name(name));
                above = None;
                continue;
            }
            let section = section.clone().ok_or(line_index + 1)?;
            let properties = sections.entry(section).or_default();
            let indent = line.len() - line.trim_start().len();
            let property = bare.split_once('=');
            match &above {
                // Continuation lines of a value without `=` do not occur in any property that is used here.
                Some((name, column)) if indent > *column => {
                    if let Some((below, value)) = property {
                        let name = format!("{name}.{}", below.trim().to_ascii_lowercase());
                        properties.insert(name, without_comment(value).to_owned());
                    }
                }
                _ => {
                    let (name, value) = property.ok_or(line_index + 1)?;
                    let name = name.trim().to_ascii_lowercase();
                    properties.insert(name.clone(), without_comment(value).to_owned());
                    above = Some((name, indent));
                }
            }
        }
        Ok(Self { sections })
    }

    /// A profile of the credentials file.
    pub fn credentials(&self, profile: &str) -> Option<&Properties> {
        self.sections.get(profile)
    }

    /// A profile of the configuration file.
    pub fn configuration(&self, profile: &str) -> Option<&Properties> {
        let named = self.sections.get(&format!("profile {profile}"));
        named.or_else(|| self.sections.get(profile).filter(|_| profile == "default"))
    }

    /// The section of that name for services.
    pub fn services(&self, name: &str) -> Option<&Properties> {
        self.sections.get(&format!("services {name}"))
    }
}

/// Normalises a section name: one blank between words, and no quotes.
fn section_name(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    words.collect::<Vec<_>>().join(" ")
}

fn without_comment(value: &str) -> &str {
    let value = value.trim();
    let mut before = ' ';
    for (index, sign) in value.char_indices() {
        if matches!(sign, '#' | ';') && before.is_whitespace() {
            return value[..index].trim_end();
        }
        before = sign;
    }
    value
}

/// 1 MiB: such a file has a few lines for each account.
const SIZE_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\u{feff}# keys\r\n[default]\r\naws_access_key_id=AKIA # mine\r\nAWS_Secret_Access_Key = a/b+c=d#e;f\r\n\n\
        [ profile  \"work\" ] ; at work\nregion = eu-west-1\ns3 =\n  endpoint_url = https://x/\n  max = 1\nservices = here\n\
        [other]\n    region = us-east-2\n    output = json\n[services here]\ns3 =\n\tendpoint_url = https://y\n";

    #[test]
    fn properties_are_found_as_the_documentation_has_them() {
        let profiles = Profiles::parse(TEXT).unwrap();
        let default = profiles.credentials("default").unwrap();
        assert_eq!(default["aws_access_key_id"], "AKIA");
        assert_eq!(default["aws_secret_access_key"], "a/b+c=d#e;f");
        let work = profiles.configuration("work").unwrap();
        assert_eq!(
            [&work["region"], &work["s3"], &work["s3.endpoint_url"]],
            ["eu-west-1", "", "https://x/"]
        );
        assert_eq!(work["services"], "here");
        assert_eq!(profiles.services("here").unwrap()["s3.endpoint_url"], "https://y");
        let other = profiles.credentials("other").unwrap();
        assert_eq!([&other["region"], &other["output"]], ["us-east-2", "json"]);
        assert!(profiles.configuration("default").is_some() && profiles.configuration("other").is_none());
        assert!(profiles.credentials("work").is_none());
    }

    #[test]
    fn an_invalid_file_is_refused_with_its_line() {
        for (text, line) in [
            ("a = b", 1),
            ("[x]\nhunter2", 2),
            ("[x", 1),
            ("[x] y", 1),
            ("\n[x]\n\n=\nb", 5),
        ] {
            assert_eq!(Profiles::parse(text).err(), Some(line), "{text:?}");
        }
        // A file truncated anywhere is parsed or refused, without a panic.
        for size in 0..TEXT.len() {
            let _ = TEXT.get(..size).map(Profiles::parse);
        }
    }

    #[test]
    fn a_missing_file_is_empty_and_an_invalid_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials");
        assert!(Profiles::load(&path).unwrap().credentials("default").is_none());
        std::fs::write(&path, "hunter2").unwrap();
        let (_, what) = Profiles::load(&path).err().unwrap();
        assert!(what.contains("line 1") && !what.contains("hunter2"), "{what}");
        assert!(Profiles::load(folder.path()).is_err());
        std::fs::write(&path, vec![b'#'; usize::try_from(SIZE_MAX).unwrap() + 1]).unwrap();
        assert!(Profiles::load(&path).err().unwrap().1.contains("too long"));
    }
}
