//! Triggers, and the statements that fire them.

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{ChangeVerb, is_of};

use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, TIME, TINY, ViewContext, ViewSpec, row, text};
use crate::catalog::schema::SchemaTrigger;
use crate::system_views::objects::moments;

use selenite_tsql::ast::TriggerTiming;
use selenite_types::DataType;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "triggers",
        is_of_server: false,
        columns: &[TRIGGER],
        rows: triggers,
    },
    ViewSpec {
        schema: SYS,
        name: "trigger_events",
        is_of_server: false,
        columns: &[EVENT],
        rows: events,
    },
];

const TRIGGER: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("object_id", INT, false),
    ("parent_class", TINY, false),
    ("parent_class_desc", text(60), true),
    ("parent_id", INT, false),
    ("type", DataType::Char(2), false),
    ("type_desc", text(60), true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("is_ms_shipped", BIT, false),
    ("is_disabled", BIT, false),
    ("is_not_for_replication", BIT, false),
    ("is_instead_of_trigger", BIT, false),
];

fn triggers(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let mut rows = Vec::new();
    for listed in schema.objects() {
        let Some(trigger) = schema
            .trigger(&listed.schema, &listed.name)
            .filter(|found| found.row.object_id == listed.id)
        else {
            continue;
        };
        let (made, changed) = moments(&listed, context);
        rows.push(row![
            &listed.name,
            listed.id,
            1,
            "OBJECT_OR_COLUMN",
            listed.parent,
            "TR",
            "SQL_TRIGGER",
            made,
            changed,
            false,
            trigger.state.is_disabled,
            false,
            trigger.timing == TriggerTiming::InsteadOf,
        ]);
    }
    Ok(rows)
}

const EVENT: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("type", INT, false),
    ("type_desc", text(60), true),
    ("is_first", BIT, true),
    ("is_last", BIT, true),
    ("event_group_type", INT, true),
    ("event_group_type_desc", text(60), true),
    ("is_trigger_event", BIT, true),
];

fn events(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let mut triggers: Vec<&SchemaTrigger> = schema.triggers().map(|trigger| &**trigger).collect();
    triggers.sort_by_key(|trigger| trigger.row.object_id);
    let mut rows = Vec::new();
    for trigger in triggers {
        let events = [
            (ChangeVerb::Insert, 1, "INSERT"),
            (ChangeVerb::Update, 2, "UPDATE"),
            (ChangeVerb::Delete, 3, "DELETE"),
        ];
        for (verb, number, words) in events.into_iter().filter(|(verb, ..)| is_of(trigger.events, *verb)) {
            rows.push(row![
                trigger.row.object_id,
                number,
                words,
                is_of(trigger.state.first, verb),
                is_of(trigger.state.last, verb),
                Cell::Null,
                Cell::Null,
                true,
            ]);
        }
    }
    Ok(rows)
}
