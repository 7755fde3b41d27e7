//! Views, procedures, functions and types, and DROP.

use core::fmt;

use super::{List, Optional, OptionalList, statement::Body, word};
use crate::ast::{
    Create, CreateType, Drop, DropKind, Function, FunctionBody, ModuleContext, Name, Parameter, Procedure,
    TypeDefinition, View,
};

impl fmt::Display for Create {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "CREATE",
            Self::Alter => "ALTER",
            Self::NewOrAlter => "CREATE OR ALTER",
        })
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = OptionalList("(", &self.columns, ")");
        write!(f, "{} VIEW {}{columns}", self.create, self.name)?;
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))?;
        write!(
            f,
            " AS {}{}",
            self.select,
            word(self.check_option, " WITH CHECK OPTION")
        )
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PROCEDURE {}", self.create, self.name)?;
        if let Some(number) = self.number {
            write!(f, ";{number}")?;
        }
        write!(f, "{}", OptionalList("", &self.parameters, ""))?;
        module_options(f, &self.options, self.execute_as.as_ref())?;
        let replication = word(self.for_replication, " FOR REPLICATION");
        write!(f, "{replication} AS\n{}", Body(&self.body))
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} FUNCTION {}({}) RETURNS ",
            self.create,
            self.name,
            List(&self.parameters)
        )?;
        let mut options = self.options.clone();
        options.extend(self.execute_as.as_ref().map(ToString::to_string));
        let options = OptionalList("WITH ", &options, "");
        match &self.body {
            FunctionBody::Scalar { returns, body } => {
                write!(f, "{returns}{options} AS\nBEGIN\n{}END", Body(body))
            }
            FunctionBody::Inline(select) => write!(f, "TABLE{options} AS RETURN {select}"),
            FunctionBody::Table {
                variable,
                elements,
                body,
            } => {
                writeln!(f, "{variable} TABLE ({}){options} AS", List(elements))?;
                write!(f, "BEGIN\n{}END", Body(body))
            }
        }
    }
}

impl fmt::Display for CreateType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE TYPE {}", self.name)?;
        match &self.definition {
            TypeDefinition::Alias { base, nullable } => {
                let null = match nullable {
                    Some(true) => " NULL",
                    Some(false) => " NOT NULL",
                    None => "",
                };
                write!(f, " FROM {base}{null}")
            }
            TypeDefinition::Table(elements) => write!(f, " AS TABLE ({})", List(elements)),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let null = match self.nullable {
            Some(true) => " NULL",
            Some(false) => " NOT NULL",
            None => "",
        };
        let default = Optional("= ", self.default.as_ref(), "");
        let (output, read_only) = (word(self.output, " OUTPUT"), word(self.read_only, " READONLY"));
        let varying = word(self.is_cursor(), " VARYING");
        write!(
            f,
            "{} {}{varying}{null}{default}{output}{read_only}",
            self.name, self.type_name
        )
    }
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_exists = word(self.if_exists, " IF EXISTS");
        write!(f, "DROP {}{if_exists} {}", self.kind, List(&self.names))
    }
}

impl fmt::Display for DropKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "TABLE",
            Self::View => "VIEW",
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
            Self::Trigger => "TRIGGER",
            Self::Sequence => "SEQUENCE",
            Self::Synonym => "SYNONYM",
            Self::Statistics => "STATISTICS",
            Self::Type => "TYPE",
            Self::Database => "DATABASE",
            Self::Schema => "SCHEMA",
            Self::Login => "LOGIN",
            Self::User => "USER",
            Self::Role => "ROLE",
            Self::ServerRole => "SERVER ROLE",
            Self::Certificate => "CERTIFICATE",
            Self::CryptographicProvider => "CRYPTOGRAPHIC PROVIDER",
            Self::Credential => "CREDENTIAL",
            Self::AsymmetricKey => "ASYMMETRIC KEY",
            Self::SymmetricKey => "SYMMETRIC KEY",
        })
    }
}

/// WITH of a procedure or trigger.
pub(super) fn module_options(
    f: &mut fmt::Formatter<'_>,
    options: &[Name],
    execute_as: Option<&ModuleContext>,
) -> fmt::Result {
    let mut all: Vec<String> = options.iter().map(ToString::to_string).collect();
    all.extend(execute_as.map(ToString::to_string));
    write!(f, "{}", OptionalList("WITH ", &all, ""))
}
