//! Requests to buckets: one client for each, which all folders and files of it share.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use crate::blocks::Blocks;
use crate::{Address, StoreError};

/// How often a request is repeated when the store fails or the connection breaks.
const MOST_RETRIES: usize = 5;
/// How long after its begin a request is repeated.
const RETRY_TIME: Duration = Duration::from_secs(60);

/// What was asked of object stores by this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests, not counting those that were repeated after a failure.
    pub requests: u64,
    /// Bytes of objects that were received.
    pub bytes: u64,
}

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// What was asked of object stores by this process so far.
#[must_use]
pub fn traffic() -> Traffic {
    Traffic { requests: REQUESTS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
}

/// Where a bucket is, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Its address.
    pub(crate) bucket: String,
    /// The server that has it.
    pub(crate) endpoint: String,
    /// Whether the environment says who is asking.
    pub(crate) has_credentials: bool,
}

/// A bucket.
pub(crate) struct Bucket {
    objects: Arc<dyn ObjectStore>,
    pub(crate) place: Place,
    /// The blocks that were read of objects, of all buckets.
    pub(crate) blocks: Arc<Blocks>,
}

/// Which content of an object is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) len: u64,
    /// What the store calls this content; where it has no name, when it was written.
    pub(crate) tag: String,
    has_tag: bool,
}

impl Version {
    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        let has_tag = meta.e_tag.is_some();
        let tag = meta.e_tag.clone().unwrap_or_else(|| meta.last_modified.to_rfc3339());
        Self { len: meta.size, tag, has_tag }
    }
}

/// The buckets that were asked so far.
fn known() -> &'static Mutex<BTreeMap<String, Arc<Bucket>>> {
    static KNOWN: OnceLock<Mutex<BTreeMap<String, Arc<Bucket>>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

/// The bucket of an address, as the variables `AWS_*` say where and as whom.
pub(crate) fn bucket(address: &Address) -> Result<Arc<Bucket>, StoreError> {
    let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bucket) = known.get(&address.bucket) {
        return Ok(Arc::clone(bucket));
    }
    let bucket = Arc::new(connect(&address.bucket)?);
    known.insert(address.bucket.clone(), Arc::clone(&bucket));
    Ok(bucket)
}

fn connect(name: &str) -> Result<Bucket, StoreError> {
    let bucket = format!("s3://{name}");
    let retry = RetryConfig {
        max_retries: MOST_RETRIES,
        retry_timeout: RETRY_TIME,
        ..RetryConfig::default()
    };
    let objects = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retry).build();
    let objects = objects.map_err(|error| StoreError::Configuration {
        bucket: bucket.clone(),
        why: error.to_string(),
    })?;
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .into_iter()
        .find_map(set)
        .unwrap_or_else(|| "Amazon S3".to_owned());
    if endpoint.starts_with("http://") && set("AWS_ALLOW_HTTP").is_none_or(|allow| allow != "true")
    {
        let why = format!("{endpoint} is not encrypted; set AWS_ALLOW_HTTP=true to use it anyway");
        return Err(StoreError::Configuration { bucket, why });
    }
    let credentials = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_SKIP_SIGNATURE",
    ];
    let has_credentials = credentials.into_iter().any(|name| set(name).is_some());
    let place = Place { bucket, endpoint, has_credentials };
    Ok(Bucket { objects: Arc::new(objects), place, blocks: Blocks::shared() })
}

impl Bucket {
    #[cfg(test)]
    pub(crate) fn in_memory(objects: Arc<dyn ObjectStore>, blocks: Blocks) -> Self {
        let place = Place {
            bucket: "s3://test".to_owned(),
            endpoint: "memory".to_owned(),
            has_credentials: true,
        };
        Self { objects, place, blocks: Arc::new(blocks) }
    }

    /// The objects below a folder, and their paths from there; `None` when there are more than
    /// `most`. Where `is_deep` is false, without those in folders inside it.
    pub(crate) fn list(
        &self,
        folder: &Address,
        is_deep: bool,
        most: usize,
    ) -> Result<Option<Vec<(String, ObjectMeta)>>, StoreError> {
        let (objects, prefix) = (Arc::clone(&self.objects), folder.path());
        let listed = waited(async move {
            let prefix = (!prefix.as_ref().is_empty()).then_some(prefix);
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            if !is_deep {
                return Ok(objects.list_with_delimiter(prefix.as_ref()).await?.objects);
            }
            let mut listed = Vec::new();
            let mut stream = objects.list(prefix.as_ref());
            while let Some(object) = stream.next().await {
                // Each page of a listing is a request.
                if listed.len() % 1000 == 999 {
                    REQUESTS.fetch_add(1, Ordering::Relaxed);
                }
                listed.push(object?);
                if listed.len() > most {
                    break;
                }
            }
            Ok::<_, object_store::Error>(listed)
        })?;
        let listed =
            listed.map_err(|error| StoreError::of(&error, folder.to_string(), &self.place))?;
        if listed.len() > most {
            return Ok(None);
        }
        let start = if folder.key.is_empty() { 0 } else { folder.key.len() + 1 };
        let relative = |object: ObjectMeta| {
            let path = object.location.as_ref().get(start..)?.to_owned();
            (!path.is_empty()).then_some((path, object))
        };
        Ok(Some(listed.into_iter().filter_map(relative).collect()))
    }

    /// What is known about an object; `None` when there is none.
    pub(crate) fn head(&self, path: &Path) -> Result<Option<ObjectMeta>, StoreError> {
        let (objects, path) = (Arc::clone(&self.objects), path.clone());
        let address = self.address(&path);
        let asked = waited(async move {
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            let options = GetOptions { head: true, ..GetOptions::default() };
            Ok::<_, object_store::Error>(objects.get_opts(&path, options).await?.meta)
        })?;
        match asked {
            Ok(meta) => Ok(Some(meta)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(StoreError::of(&error, address, &self.place)),
        }
    }

    /// Ranges of an object, several at a time, in their order.
    pub(crate) fn ranges(
        &self,
        path: &Path,
        version: &Version,
        ranges: Vec<Range<u64>>,
    ) -> Result<Vec<Bytes>, StoreError> {
        let (objects, of, wanted) = (Arc::clone(&self.objects), path.clone(), version.clone());
        let asked = waited(async move {
            let requests = ranges.into_iter().map(|range| range_of(&*objects, &of, &wanted, range));
            let requests: Vec<_> = requests.collect();
            futures::stream::iter(requests).buffered(CONCURRENT).try_collect::<Vec<_>>().await
        })?;
        let address = || self.address(path);
        asked.map_err(|problem| match problem {
            Problem::Other => StoreError::Changed { address: address() },
            Problem::Store(error) => match StoreError::of(&error, address(), &self.place) {
                StoreError::Nothing { address } => StoreError::Removed { address },
                error => error,
            },
        })
    }

    fn address(&self, path: &Path) -> String {
        format!("{}/{path}", self.place.bucket)
    }
}

/// Requests of one read at a time.
const CONCURRENT: usize = 8;

/// Why a range was not read.
enum Problem {
    /// It would be of another object.
    Other,
    Store(object_store::Error),
}

impl From<object_store::Error> for Problem {
    fn from(error: object_store::Error) -> Self {
        Self::Store(error)
    }
}

async fn range_of(
    objects: &dyn ObjectStore,
    path: &Path,
    version: &Version,
    range: Range<u64>,
) -> Result<Bytes, Problem> {
    REQUESTS.fetch_add(1, Ordering::Relaxed);
    let options = GetOptions {
        range: Some(GetRange::Bounded(range.clone())),
        if_match: version.has_tag.then(|| version.tag.clone()),
        ..GetOptions::default()
    };
    let found = objects.get_opts(path, options).await;
    let found = match found {
        // A range beyond the end of what is now a shorter object.
        Err(error) if error.to_string().contains("InvalidRange") => return Err(Problem::Other),
        found => found?,
    };
    // Not every store knows the condition.
    if Version::of(&found.meta) != *version || found.range != range {
        return Err(Problem::Other);
    }
    let mut out = BytesMut::with_capacity(usize::try_from(range.end - range.start).unwrap_or(0));
    let mut stream = found.into_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        BYTES.fetch_add(piece.len() as u64, Ordering::Relaxed);
        out.extend_from_slice(&piece);
    }
    Ok(out.freeze())
}

/// Runs a request on the threads for that, and waits for it: the thread that asks may be one that
/// must not wait in another way.
fn waited<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T, StoreError> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("object-store").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    let runtime = made.as_ref().map_err(|why| StoreError::Threads(why.clone()))?;
    let (send, receive) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        let answer = request.await;
        // Who asked waits for it.
        let _ = send.send(answer);
    });
    receive.recv().map_err(|_| StoreError::Threads("a request ended without an answer".to_owned()))
}
