//! Skin over the flesh of pictures, which follow each other or not.

use crate::session::Document;
use sinew_sim::FleshSkinOptions;
use sinew_take::{Frame, SkinStage, SurfaceInfo};

/// Frames that may be left out between two of one motion.
const GAP: usize = 4;

/// Skin of the frame that was drawn last.
pub(super) struct DrawnSkin {
    stage: SkinStage,
    /// The frame and its revision.
    place: Option<(usize, u64)>,
    drawn: Frame,
}

impl DrawnSkin {
    /// Skin over all flesh of a scene.
    pub(super) fn of(document: &Document) -> DrawnSkin {
        let mut stage = SkinStage::new(FleshSkinOptions::default(), document.opened.flesh_bodies());
        let bodies: Vec<SurfaceInfo> = document.model.bodies().iter().map(SurfaceInfo::of).collect();
        stage.begin(&bodies);
        DrawnSkin { stage, place: None, drawn: Frame::default() }
    }

    /// A frame with skin in place of flesh. It follows the frame before, and begins anew after a jump.
    pub(super) fn over(&mut self, flesh: &Frame, place: (usize, u64)) -> &Frame {
        if self.place != Some(place) {
            let is_next = |(frame, revision): (usize, u64)| {
                revision == place.1 && (1..=GAP).contains(&place.0.wrapping_sub(frame))
            };
            if !self.place.is_some_and(is_next) {
                self.stage.restart();
            }
            self.drawn.clone_from(self.stage.frame(flesh));
            self.place = Some(place);
        }
        &self.drawn
    }
}
