//! s3s, an object store over a folder: it checks signatures and checksums as S3 does.
//!
//! Its file system (0.11; later ones need a newer Rust than ours) does not support `If-None-Match`
//! and lists all objects at once. Both are added here.

use std::path::PathBuf;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, GetObjectInput, GetObjectOutput, ListObjectsV2Input, ListObjectsV2Output,
    PutObjectInput, PutObjectOutput,
};
use s3s::service::S3ServiceBuilder;
use s3s::{S3, S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use super::{KEY_ID, SECRET, listen};

pub struct RealStore {
    pub port: u16,
    pub folder: TempDir,
    _runtime: Runtime,
}

impl RealStore {
    /// Starts a store with a bucket `backups` that accepts the key.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("backups")).unwrap();
        let files = FileSystem::new(folder.path()).unwrap();
        let mut builder = S3ServiceBuilder::new(Store {
            files,
            root: folder.path().to_owned(),
            writes: Mutex::new(()),
        });
        builder.set_auth(SimpleAuth::from_single(KEY_ID, SECRET));
        let service = builder.build().into_shared();
        let listener = listen();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let runtime = Runtime::new().unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let server = Arc::new(Builder::new(TokioExecutor::new()));
            while let Ok((stream, _)) = listener.accept().await {
                let (server, service) = (Arc::clone(&server), service.clone());
                tokio::spawn(async move {
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self {
            port,
            folder,
            _runtime: runtime,
        }
    }
}

struct Store {
    files: FileSystem,
    root: PathBuf,
    /// Serialises writes: the check before a write is still valid when the write is made.
    writes: Mutex<()>,
}

#[async_trait::async_trait]
impl S3 for Store {
    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        let _alone = self.writes.lock().await;
        if request.input.if_none_match.is_some() {
            let input = &request.input;
            if self.root.join(&input.bucket).join(&input.key).exists() {
                return Err(S3Error::new(S3ErrorCode::PreconditionFailed));
            }
        }
        self.files.put_object(request).await
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        self.files.get_object(request).await
    }

    async fn delete_object(&self, request: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.files.delete_object(request).await
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let token = request.input.continuation_token.clone();
        let mut answer = self.files.list_objects_v2(request).await?;
        let mut objects = answer.output.contents.take().unwrap_or_default();
        if let Some(token) = token {
            objects.retain(|object| object.key.as_ref().is_some_and(|key| *key > token));
        }
        if objects.len() > PAGE_SIZE {
            objects.truncate(PAGE_SIZE);
            answer.output.is_truncated = Some(true);
            answer.output.next_continuation_token = objects.last().and_then(|object| object.key.clone());
        }
        answer.output.contents = Some(objects);
        Ok(answer)
    }
}

const PAGE_SIZE: usize = 4;
