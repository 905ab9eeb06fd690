//! Pictures of a scene at rest, before there are frames of it.

use super::{Exchange, Shown, ViewRequest, draw_view, lock, view_scene};
use crate::session::RestLook;
use sinew_render::LiveView;
use std::sync::Arc;

/// What is to be drawn of a scene that has no flesh yet.
#[derive(Clone)]
pub(crate) struct RestRequest {
    pub(crate) look: Arc<RestLook>,
    /// The viewports.
    pub(crate) views: Vec<ViewRequest>,
    /// Whether pixels are drawn here.
    pub(crate) draws: bool,
}

impl RestRequest {
    pub(super) fn is_same(&self, other: &RestRequest) -> bool {
        Arc::ptr_eq(&self.look, &other.look) && self.views == other.views && self.draws == other.draws
    }
}

impl Exchange {
    /// Draws a draft; what follows soon is a picture of a frame.
    pub(super) fn draw_rest(&self, request: &RestRequest, serial: &mut u64) {
        let RestLook { surfaces, looks, frame, up } = &*request.look;
        let mut view = LiveView::new(surfaces, looks, surfaces.len(), None);
        let mut shown = Shown { is_rest: true, is_draft: true, ..Shown::default() };
        if request.draws {
            for wanted in &request.views {
                let picture = draw_view(&mut view, (frame, &[]), wanted, None, None, serial);
                if let Some(slot) = shown.pictures.get_mut(wanted.slot) {
                    *slot = picture;
                }
            }
        } else {
            let topology = Arc::new(view.topology());
            shown.scene = Some(Arc::new(view_scene(&view, &topology, frame, &[], (*up, &[]), None)));
        }
        *lock(&self.shown) = shown;
        (self.wake)();
    }
}
