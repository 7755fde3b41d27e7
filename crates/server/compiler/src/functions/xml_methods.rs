//! The methods of xml: value, query, exist, nodes and modify.
//!
//! Each takes the document, the number of the node at which the query begins, the query, and the values of its
//! sql:column and sql:variable.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use selenite_types::storage::forget_xml;
use selenite_types::{DataType, Family, Value, Width, XmlDocument, XmlNodeWriter, push_text};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::exact_text;
use crate::xml::form_of;
use crate::xml::query::{Evaluation, Item, ItemReader, MadeNode, Number, XmlChange, XmlQuery};
use crate::{Ends, Function, SqlError};

/// `value()`, as text.
pub(crate) static XML_VALUE: Function = Function::new("xml value", &[Rule::Any], LONG_TEXT, value).taking_nulls();

/// `exist()`.
pub(crate) static XML_EXIST: Function =
    Function::new("xml exist", &[Rule::Any], Typing::Is(DataType::Bit), exist).taking_nulls();

/// `query()`.
pub(crate) static XML_QUERY: Function =
    Function::new("xml query", &[Rule::Any], Typing::Is(DataType::Xml), query).taking_nulls();

/// `nodes()`: rows in JSON, each the number of a node.
pub(crate) static XML_NODES: Function = Function::new("xml nodes", &[Rule::Any], LONG_TEXT, nodes).taking_nulls();

/// `modify()`: the document, the name of the value, the change, and the values of its sql:column and sql:variable.
pub(crate) static XML_MODIFY: Function =
    Function::new("xml modify", &[Rule::Any], Typing::Is(DataType::Xml), modify).taking_nulls();

fn value(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(Evaluated { document, items, .. }) = evaluated(call, "value")? else {
        return Ok(Value::Null);
    };
    match items.as_slice() {
        [] => Ok(Value::Null),
        [one] => {
            call.reserve(call.text(0)?.len())?;
            Ok(Value::Text(Arc::from(one.text(&document))))
        }
        [_, _, ..] => Err(SqlError::xml_not_single("value")),
    }
}

fn exist(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = evaluated(call, "exist")?;
    Ok(found.map_or(Value::Null, |found| Value::Bit(!found.items.is_empty())))
}

fn query(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(found) = evaluated(call, "query")? else {
        return Ok(Value::Null);
    };
    let Evaluated { document, items, .. } = &found;
    let (mut out, mut size) = (String::new(), 0_usize);
    let mut writer = XmlNodeWriter::new(document).of_query(&found.query.prolog, found.made);
    let mut polls = call.polls();
    let mut after_atom = false;
    let mut step = |bytes: usize| {
        size = size.saturating_add(bytes);
        call.reserve(size)?;
        polls.steps(bytes + 1)
    };
    for item in items {
        let is_atom = match item {
            Item::Node(id) => {
                writer.write(*id, &mut out, &mut step)?;
                false
            }
            Item::Attribute(..) => return Err(SqlError::xml_attribute_outside()),
            Item::Made(node) => {
                step(item.text_size())?;
                match &**node {
                    MadeNode::Xml(xml) | MadeNode::Fragment(xml) => out.push_str(xml),
                    MadeNode::Text(text) => push_text(&mut out, text),
                    MadeNode::Attribute(_) => return Err(SqlError::xml_attribute_outside()),
                }
                false
            }
            Item::Text(_) | Item::Number(_) | Item::Boolean(_) => {
                step(item.text_size())?;
                if after_atom {
                    out.push(' ');
                }
                push_text(&mut out, &item.text(document));
                true
            }
        };
        after_atom = is_atom;
    }
    match items.iter().any(|item| matches!(item, Item::Made(_))) {
        true => in_form(call, &out),
        false => Ok(Value::Text(Arc::from(out))),
    }
}

fn nodes(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(Evaluated { items, .. }) = evaluated(call, "nodes")? else {
        return Ok(Value::Null);
    };
    let mut rows = String::from("[");
    for (at, item) in items.iter().enumerate() {
        let number = item.number().ok_or_else(SqlError::xml_not_nodes)?;
        rows.push_str(if at > 0 { ",[" } else { "[" });
        rows.push_str(&number.to_string());
        rows.push(']');
    }
    rows.push(']');
    Ok(Value::Text(Arc::from(rows)))
}

fn modify(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::Text(text) = call.value(0) else {
        return Err(SqlError::xml_mutator_of_null(call.text(1)?));
    };
    let change = XmlChange::parse(call.text(2)?)?;
    let document = document_of(call, text)?;
    let externals = externals_of(call)?;
    let mut polls = call.polls();
    let (mut work, mut reserve) = (|steps| polls.steps(steps), |bytes| call.environment.reserve(bytes));
    let reader = ItemReader::new(&document, &mut work, &mut reserve);
    match Evaluation::new(reader, externals, &change.prolog).changed(&change)? {
        Some(changed) => in_form(call, &changed),
        None => Ok(call.value(0).clone()),
    }
}

/// The form of xml that was composed.
///
/// Errors: 6335 for more than 128 levels, and others for characters that xml does not have.
fn in_form(call: &Arguments<'_>, xml: &str) -> Result<Value, SqlError> {
    call.reserve(xml.len().saturating_mul(2))?;
    Ok(Value::Text(Arc::from(form_of(&mut call.polls(), xml)?)))
}

/// The values of sql:column and sql:variable.
fn externals_of(call: &Arguments<'_>) -> Result<Vec<Option<Item>>, SqlError> {
    let values = (3..call.values.len()).map(|at| external(call.value(at), &call.data_type(at)));
    values.collect()
}

/// A document, and the items of a query.
struct Evaluated {
    query: Rc<XmlQuery>,
    document: Rc<XmlDocument>,
    items: Vec<Item>,
    /// How many prefixes were made.
    made: usize,
}

/// The result of the query; `None` of NULL.
fn evaluated(call: &Arguments<'_>, method: &str) -> Result<Option<Evaluated>, SqlError> {
    let Value::Text(text) = call.value(0) else {
        return Ok(None);
    };
    if *call.value(1) == Value::Null {
        return Ok(None);
    }
    let start = Item::of_number(call.bigint(1)?).ok_or_else(|| SqlError::internal("no such node"))?;
    let query = query_of(call.text(2)?, method)?;
    let document = document_of(call, text)?;
    let externals = externals_of(call)?;
    let mut polls = call.polls();
    let (mut work, mut reserve) = (|steps| polls.steps(steps), |bytes| call.environment.reserve(bytes));
    let reader = ItemReader::new(&document, &mut work, &mut reserve);
    let mut evaluation = Evaluation::new(reader, externals, &query.prolog);
    let items = evaluation.items(&query.root, &start)?;
    let made = evaluation.made;
    Ok(Some(Evaluated {
        query,
        document,
        items,
        made,
    }))
}

/// A value of sql:column or sql:variable; `None` for NULL.
fn external(value: &Value, of: &DataType) -> Result<Option<Item>, SqlError> {
    if *value == Value::Null {
        return Ok(None);
    }
    let text = exact_text(value, of)?;
    Ok(Some(match of.family() {
        Family::Bit => Item::Boolean(*value == Value::Bit(true)),
        Family::Integer | Family::Decimal | Family::Money => {
            // Digits that an exact number of XQuery does not have are those of a double.
            let exact = Number::exact(&text);
            Item::Number(exact.unwrap_or_else(|| Number::Double(text.parse().unwrap_or(f64::NAN))))
        }
        Family::Approximate => Item::Number(Number::Double(text.parse().unwrap_or(f64::NAN))),
        Family::Xml => Item::Made(Arc::new(MadeNode::Fragment(text))),
        Family::Text
        | Family::Binary
        | Family::OldDate
        | Family::NewDate
        | Family::Time
        | Family::Guid
        | Family::Variant => Item::Text(Arc::from(text)),
    }))
}

thread_local! {
    /// The latest documents of the session, the last one first: rows of nodes() ask the same ones again and again.
    static LATEST: RefCell<Vec<KeptDocument>> = const { RefCell::new(Vec::new()) };

    /// The last query, which each row of a statement has.
    static LAST_QUERY: RefCell<Option<(String, Rc<XmlQuery>)>> = const { RefCell::new(None) };
}

fn query_of(text: &str, method: &str) -> Result<Rc<XmlQuery>, SqlError> {
    let kept = LAST_QUERY.with_borrow(|last| {
        let (known, query) = last.as_ref()?;
        (known == text).then(|| Rc::clone(query))
    });
    if let Some(kept) = kept {
        return Ok(kept);
    }
    // An error was reported when the statement was bound.
    let query = Rc::new(XmlQuery::parse(text, method)?);
    LAST_QUERY.set(Some((text.to_owned(), Rc::clone(&query))));
    Ok(query)
}

/// A document that the next call may ask.
struct KeptDocument {
    text: Arc<str>,
    document: Rc<XmlDocument>,
    size: usize,
}

fn document_of(call: &Arguments<'_>, text: &Arc<str>) -> Result<Rc<XmlDocument>, SqlError> {
    let kept = LATEST.with_borrow_mut(|latest| {
        let is_this = |kept: &KeptDocument| Arc::ptr_eq(&kept.text, text) || *kept.text == **text;
        let at = latest.iter().position(is_this)?;
        latest[..=at].rotate_right(1);
        Some(Rc::clone(&latest[0].document))
    });
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let environment = call.environment;
    environment.reserve(XmlDocument::size_max(text)).or_else(|_| {
        LATEST.set(Vec::new());
        environment.reserve(XmlDocument::size_max(text))
    })?;
    let parsed = call.polls().during(|poll| XmlDocument::parse_while(text, poll))?;
    let document = Rc::new(parsed.map_err(|error| SqlError::internal(&error.to_string()))?);
    let size = document.size();
    // Each row of nodes() asks the document again. It may take as much as it leaves.
    if size <= KEPT_SIZE_MAX || environment.reserve(size).is_ok() {
        let (text, document) = (Arc::clone(text), Rc::clone(&document));
        LATEST.with_borrow_mut(|latest| keep(latest, KeptDocument { text, document, size }));
    }
    Ok(document)
}

/// Puts a document before the others, of which those remain that have room beside it.
fn keep(latest: &mut Vec<KeptDocument>, document: KeptDocument) {
    latest.truncate(KEPT_COUNT_MAX - 1);
    let mut left = KEPT_SIZE_MAX.saturating_sub(document.size);
    latest.retain(|kept| left.checked_sub(kept.size).inspect(|rest| left = *rest).is_some());
    latest.insert(0, document);
}

/// Frees the documents that the session's last request asked.
pub fn forget_xml_documents() {
    LATEST.set(Vec::new());
    forget_xml();
}

const LONG_TEXT: Typing = Typing::Is(DataType::NVarChar(Width::Max));

/// 16 MiB: what a session keeps of documents beside the last one.
const KEPT_SIZE_MAX: usize = 16 << 20;

/// Documents: each call compares its text with theirs.
const KEPT_COUNT_MAX: usize = 4;

impl SqlError {
    /// 5302: modify() of NULL.
    fn xml_mutator_of_null(name: &str) -> Self {
        let text = format!("Mutator 'modify()' on '{name}' cannot be called on a null value.");
        Self::new(5302, Ends::Transaction, text)
    }

    /// 2389: more than one item where one is needed.
    pub(crate) fn xml_not_single(method: &str) -> Self {
        let text = format!(
            "XQuery [{method}()]: '{method}()' requires a singleton (or empty sequence), found operand of type \
             'xdt:untypedAtomic *'"
        );
        Self::new(2389, Ends::Batch, text)
    }

    /// 2396: an attribute without its element.
    fn xml_attribute_outside() -> Self {
        Self::new(
            2396,
            Ends::Statement,
            "XQuery [query()]: Attribute may not appear outside of an element",
        )
    }

    /// 2374: rows of what is no node.
    fn xml_not_nodes() -> Self {
        let text = "XQuery [nodes()]: A node or set of nodes is required for 'nodes()'";
        Self::new(2374, Ends::Statement, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Batch;

    /// Each row of nodes() would parse it again.
    #[test]
    fn a_document_of_many_nodes_is_kept_until_the_next_request() {
        let mut batch = Batch::new();
        let elements = "REPLICATE(CAST('<a/>' AS varchar(max)), 200000)";
        let value = format!("CAST('<r>' + {elements} + '<b>1</b></r>' AS xml)");
        batch.declare("@x", DataType::Xml, &value);
        forget_xml_documents();
        assert_eq!(batch.shown("@x.exist('/r/b')"), "1");
        let kept =
            || LATEST.with_borrow(|latest| latest.iter().map(|kept| Rc::clone(&kept.document)).collect::<Vec<_>>());
        let before = kept();
        assert_eq!(before.len(), 1);
        assert!(before[0].size() < XmlDocument::size_max(&format!("<r>{}</r>", "<a/>".repeat(200_000))));
        assert_eq!(batch.shown("@x.value('(/r/b)[1]', 'int')"), "1");
        assert!(Rc::ptr_eq(&before[0], &kept()[0]));
        forget_xml_documents();
        assert!(kept().is_empty());
    }

    #[test]
    fn the_latest_documents_are_kept_within_their_room() {
        let mut latest = Vec::new();
        let sizes = |latest: &[KeptDocument]| latest.iter().map(|kept| kept.size >> 20).collect::<Vec<_>>();
        for (megabytes, left) in [
            (1, vec![1]),
            (5, vec![5, 1]),
            (10, vec![10, 5, 1]),
            (2, vec![2, 10, 1]),
            (3, vec![3, 2, 10, 1]),
            (0, vec![0, 3, 2, 10]),
            (16, vec![16, 0]),
            (40, vec![40, 0]),
            (1, vec![1, 0]),
        ] {
            let document = Rc::new(XmlDocument::parse("<a/>").unwrap());
            let (text, size) = (Arc::from("<a/>"), megabytes << 20);
            keep(&mut latest, KeptDocument { text, document, size });
            assert_eq!(sizes(&latest), left, "{megabytes} MiB");
        }
    }
}
