//! CREATE CERTIFICATE in a database: a certificate that its own key signs.

use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{CertificateSource, CreateCertificate};

use super::key_pair::not_generated;
use super::{new_guid, now, refused};
use crate::administration::Administration;
use crate::administration::encryption::{WantedCertificate, info};
use crate::catalog::stored_keys::{StoredKey, StoredKeyKind};
use crate::execution_context::ExecutionContext;
use crate::key_wrap::rsa_key::{new_certificate, new_pair};
use crate::sealing::check_password;

impl Administration<'_, '_> {
    /// CREATE CERTIFICATE.
    pub(super) fn create_own_certificate(
        &mut self,
        create: &CreateCertificate,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let CertificateSource::New { password, options } = &create.source else {
            return Err(refused("CREATE CERTIFICATE FROM a file or bytes outside master").into());
        };
        if create.active_for_begin_dialog.is_some() {
            return Err(refused("CREATE CERTIFICATE ACTIVE FOR BEGIN_DIALOG").into());
        }
        self.with_keys(|work| work.check_creation(StoredKeyKind::Certificate))?;
        let now = now();
        let wanted = WantedCertificate::of(options, now)?;
        password.as_deref().map_or(Ok(()), check_password)?;
        if let Some((number, text)) = wanted.warning(now) {
            execution.reply.message(&info(number, text))?;
        }
        let pair = new_pair(ALGORITHM).ok_or_else(not_generated)?;
        let validity = (wanted.not_before, wanted.not_after);
        let made = new_certificate(&pair, wanted.subject, validity).ok_or_else(not_generated)?;
        // It contains its subject twice, in UTF-8.
        if made.der.len() > CERTIFICATE_SIZE_MAX {
            return Err(refused("A certificate of more than 8000 bytes").into());
        }
        let new = StoredKey {
            kind: StoredKeyKind::Certificate,
            id: 0,
            name: create.name.text.clone(),
            owner: 0,
            algorithm: ALGORITHM.to_owned(),
            guid: new_guid(),
            public: pair.public,
            certificate: made.der,
            subject: wanted.subject.to_owned(),
            serial: made.serial,
            validity,
            times: (now, now),
        };
        let authorization = create.authorization.as_ref();
        self.add_private_key(new, &pair.private, (authorization, password.as_deref()), execution)
    }
}

/// As SQL Server 2019 generates it.
const ALGORITHM: &str = "RSA_2048";
/// What CERTENCODED can return.
const CERTIFICATE_SIZE_MAX: usize = 8000;
