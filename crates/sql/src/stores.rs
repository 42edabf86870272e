//! [`NoStores`]: statements reach no file.

use std::sync::Arc;

use datafusion::common::{Result, plan_err};
use datafusion::datasource::object_store::ObjectStoreRegistry;
use datafusion::object_store::ObjectStore;
use url::Url;

/// A registry of places with files: it has none and takes none.
#[derive(Debug)]
pub(crate) struct NoStores;

impl ObjectStoreRegistry for NoStores {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        plan_err!("{url} is not open here: statements read the opened experiment and no file")
    }
}
