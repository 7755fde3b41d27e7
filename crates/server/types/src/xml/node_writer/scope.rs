//! The prefixes that are bound where a node is written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::Declaration;

/// The declarations that are in force.
#[derive(Default)]
pub(super) struct Scope {
    /// The namespaces of each prefix, the innermost last.
    bound: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// The prefixes of each namespace, the innermost last.
    prefixes: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// How many prefixes were made; those that were bound already count.
    pub made: usize,
}

impl Scope {
    pub fn push(&mut self, (prefix, namespace): &Declaration) {
        let bound = self.bound.entry(Arc::clone(prefix)).or_default();
        bound.push(Arc::clone(namespace));
        let prefixes = self.prefixes.entry(Arc::clone(namespace)).or_default();
        prefixes.push(Arc::clone(prefix));
    }

    pub fn pop(&mut self, (prefix, namespace): &Declaration) {
        if let Some(bound) = self.bound.get_mut(prefix) {
            bound.pop();
        }
        if let Some(prefixes) = self.prefixes.get_mut(namespace) {
            prefixes.pop();
        }
    }

    /// A name as it is written here, and the declaration that it needs.
    pub fn written<'n>(
        &mut self,
        name: &'n str,
        namespace: &Arc<str>,
        is_attribute: bool,
        prolog: &[Declaration],
    ) -> (Cow<'n, str>, Option<Declaration>) {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let has_none = is_attribute && prefix.is_empty();
        if has_none || prefix == "xml" || self.namespace(prefix) == &**namespace {
            return (Cow::Borrowed(name), None);
        }
        if namespace.is_empty() {
            return (Cow::Borrowed(name), Some((Arc::from(""), Arc::from(""))));
        }
        let known = self.prefixes.get(namespace).and_then(|prefixes| prefixes.last());
        let known = known.filter(|known| !(is_attribute && known.is_empty()));
        let (prefix, is_new) = match known.filter(|known| self.namespace(known) == &**namespace) {
            Some(known) => (Arc::clone(known), false),
            None => (self.chosen(namespace, is_attribute, prolog), true),
        };
        let written = match prefix.is_empty() {
            true => local.to_owned(),
            false => format!("{prefix}:{local}"),
        };
        (Cow::Owned(written), is_new.then(|| (prefix, Arc::clone(namespace))))
    }

    /// The namespace of a prefix; empty for none.
    fn namespace(&self, prefix: &str) -> &str {
        self.bound
            .get(prefix)
            .and_then(|bound| bound.last())
            .map_or("", |namespace| namespace)
    }

    /// A prefix for a namespace that has none here: the query's, one that each query has, or a new one.
    fn chosen(&mut self, namespace: &str, is_attribute: bool, prolog: &[Declaration]) -> Arc<str> {
        let is_free = |prefix: &str| self.namespace(prefix).is_empty();
        let of_query = prolog
            .iter()
            .rev()
            .find(|(prefix, of)| **of == *namespace && is_free(prefix) && !(is_attribute && prefix.is_empty()));
        if let Some((prefix, _)) = of_query {
            return Arc::clone(prefix);
        }
        if let Some((prefix, _)) = PREDECLARED
            .iter()
            .find(|(prefix, of)| *of == namespace && is_free(prefix))
        {
            return Arc::from(*prefix);
        }
        let is_known = |prefix: &str| !is_free(prefix) || prolog.iter().any(|(known, _)| **known == *prefix);
        let (base, first) = if is_known("p") { ("p1", 0) } else { ("p", 1) };
        let mut made = self.made;
        while is_known(&format!("{base}{}", first + made)) {
            made += 1;
        }
        let prefix = Arc::from(format!("{base}{}", first + made));
        self.made = made + 1;
        prefix
    }
}

/// The prefixes that each query has.
const PREDECLARED: [(&str, &str); 4] = [
    ("xs", "http://www.w3.org/2001/XMLSchema"),
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ("xdt", "http://www.w3.org/2004/07/xpath-datatypes"),
    ("sql", "urn:schemas-microsoft-com:xml-sql"),
];
