//! The syntax tree of a batch, with positions, before names are resolved.
//!
//! - `nodes-have-positions`: every statement, expression, condition, query and name has its
//!   position in the batch.
//! - `text-as-written`: names and literals keep the text as written; delimiters and doubled quotes
//!   are removed.
//! - `ranges-include-parentheses`: parentheses are not nodes, but the position of a parenthesized
//!   node includes them: a range of the source is always complete T-SQL.
//! - `long-chains-are-lists`: chains that occur with thousands of links (AND, OR, UNION, lists) are
//!   lists, never deep trees; other nesting is at most [`DEPTH_MAX`](crate::DEPTH_MAX) deep, so a
//!   traversal may recurse.
//! - `values-are-not-conditions`: values and conditions are different node types, [`Expr`] and
//!   [`Condition`]: T-SQL has no Boolean values.

pub mod administration;
pub mod cell_key;
pub mod change;
pub mod cursor;
pub mod database;
pub mod encryption;
pub mod execute;
pub mod index;
pub mod key_management;
pub mod literal;
pub mod merge;
pub mod name;
pub mod operator;
pub mod position;
pub mod query;
pub mod rowset;
pub mod security;
pub mod sequence;
pub mod set_option;
pub mod statement;
pub mod synonym;
pub mod table;
pub mod trigger;
pub mod type_name;
mod with;

pub use administration::{Dbcc, Kill};
pub use cell_key::{CellKeyStatement, CreateSymmetricKey, KeyProtector};
pub use change::{
    Assignment, AssignmentTarget, BulkLoad, BulkType, ChangeTarget, Delete, Insert, InsertSource, Output, OutputInto,
    Update, ValueOrDefault,
};
pub use cursor::{
    CursorDefinition, CursorName, CursorPurpose, CursorStatement, DeclareCursor, FetchCursor, FetchDirection,
};
pub use database::{
    AlterDatabase, AlterDatabaseAction, Backup, BackupDevice, BackupKind, CreateDatabase, DeviceKind, FileGroup,
    FileSize, FileSpec, Restore, RestoreKind, SizeUnit, Termination,
};
pub use encryption::{
    AlterEncryptionKey, BackupCertificate, CertificateSource, CreateCertificate, EncryptionKey, Encryptor, PrivateKey,
};
pub use execute::{Argument, ArgumentValue, Call, Execute, ProcedureName, TextPrincipal};
pub use index::{AlterIndex, AlterIndexAction, CreateIndex, DropIndex, IndexColumn};
pub use key_management::{AlterProvider, CreateAsymmetricKey, CreateProvider, Credential, KeyManagement};
pub use literal::Literal;
pub use merge::{Merge, MergeAction, MergeClause, MergeMatch};
pub use name::{ColumnName, Name, NameOrVariable, ObjectName};
pub use operator::{AssignmentOperator, BinaryOperator, Comparison, Quantifier, UnaryOperator};
pub use position::Position;
pub use query::{
    Arguments, BulkContents, CallForm, Case, CaseBranches, Cast, Combination, Condition, ConditionKind, DerivedAlias,
    Expr, ExprKind, FunctionCall, GroupItem, Iif, Join, JsonArguments, NamedWindow, NextValue, Offset, OrderItem,
    Pivot, Query, QueryBody, SearchedBranch, Select, SelectItem, SetTerm, Setting, SettingValue, SimpleBranch,
    TableSource, TableSourceKind, Top, Unpivot, Window,
};
pub use rowset::{
    CastKind, ForClause, ForFormat, ForMode, FrameBound, FrameUnit, JoinHint, JoinKind, JsonColumn, NullTreatment,
    OdbcLiteral, SetOperator, WindowFrame,
};
pub use security::{
    AlterAuthorization, AlterLogin, AlterLoginAction, AlterRole, AlterRoleAction, AlterUser, CreateLogin, CreateRole,
    CreateUser, ExecuteAs, ImpersonatedPrincipal, LoginSource, ModuleContext, Password, Permission, PermissionAction,
    PermissionChange, Securable, UserSource,
};
pub use sequence::{SequenceDefinition, SequenceOption};
pub use set_option::{IsolationLevel, SetOption, SetValue};
pub use statement::{
    AlterSchema, Create, CreateSchema, CreateType, Declaration, Drop, DropKind, Function, FunctionBody, If, Parameter,
    Procedure, RaiseError, RaiseErrorOption, SchemaStatement, SetVariable, Statement, StatementKind, Throw,
    Transaction, Tree, Trigger, Try, TypeDefinition, TypeReference, Unsupported, VariableType, View, WaitFor, WaitKind,
    While,
};
pub use synonym::CreateSynonym;
pub use table::{
    AlterColumn, AlterTable, AlterTableAction, ColumnDefinition, ColumnKind, Constraint, ConstraintChange,
    ConstraintKind, CreateTable, DropElement, ForeignKey, Identity, KeyConstraint, ReferentialAction, TableElement,
    TableIndex, TableType, UserType,
};
pub use trigger::{TableTriggerSwitch, TriggerEvents, TriggerSwitch, TriggerTiming};
pub use type_name::{AliasType, NamedType, TypeArgument, TypeName};
pub use with::{CommonTable, SelectStatement, With, XmlNamespace};
