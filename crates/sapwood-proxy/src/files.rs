//! The content of a proxy's server: the files and directories of origins.

use crate::common::Common;
use crate::credential::Shown;
use crate::directory::folder;
use crate::failure::Failure;
use crate::fetch_ahead::FetchAhead;
use crate::handle::Handle;
use crate::open_files::OpenFiles;
use crate::place::Place;
use crate::route::Routes;
use sapwood_serve::{Answer, ClientRequest, Files, Found, Protocol};
use std::sync::Arc;

/// The files of origins.
pub(crate) struct ProxyFiles {
    routes: Routes,
    common: Arc<Common>,
    table: Arc<OpenFiles>,
}

impl ProxyFiles {
    pub(crate) fn new(routes: Routes, common: Arc<Common>, table: Arc<OpenFiles>) -> Self {
        Self { routes, common, table }
    }

    fn places(&self, asked: &ClientRequest) -> Result<Vec<Place>, Failure> {
        let place = |route: crate::route::Route| {
            let shown = Shown::of(asked, route.target.scheme)?;
            Ok(Place { route, shown })
        };
        self.routes.of(asked.path.parts())?.into_iter().map(place).collect()
    }

    async fn look_up(&self, asked: &ClientRequest) -> Result<Found, Failure> {
        let places = self.places(asked)?;
        let is_secret = places.iter().any(|place| place.shown.is_secret());
        let of_client = |failure| match failure {
            // a client without a credential may retry with one
            Failure::Denied(why) if !is_secret => Failure::Unauthorized { why, challenge: Some("Bearer".to_owned()) },
            other => other,
        };
        if asked.path.is_folder || asked.path.parts().is_empty() {
            return folder(&places, &self.common).await.map_err(of_client);
        }
        match self.table.open(places.clone()).await {
            Ok(version) => {
                let ahead = match asked.protocol {
                    Protocol::Http => self.table.clients.of(asked.client, &version, &self.common),
                    _ => FetchAhead::new(&version, &self.common),
                };
                Ok(Found::File(Arc::new(Handle::new(version, Arc::clone(&self.common.metrics), ahead))))
            }
            // what cannot be opened may be a directory
            Err(failure @ (Failure::NotFound | Failure::Origin(_))) if places.iter().any(Place::may_list) => {
                folder(&places, &self.common).await.map_err(|_| failure)
            }
            Err(failure) => Err(of_client(failure)),
        }
    }
}

impl Files for ProxyFiles {
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found> {
        Box::pin(self.look_up(asked))
    }
}
