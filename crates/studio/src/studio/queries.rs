//! What others ask of the studio: tests, measurements, the window.

use super::{Arrangement, Studio};
use crate::open_dialogs::Dialog;
use crate::selection::Selection;
use crate::session::Status;
use crate::tools::Tool;
use crate::view_painter::ViewPainter;
use crate::viewport;
use std::path::Path;
use std::sync::Arc;

impl Studio {
    /// Whether there is a picture of a frame.
    pub fn has_picture(&self) -> bool {
        self.picture_count() > 0 && !self.shown.is_rest
    }

    /// Whether there is a picture of what is open, be it at rest.
    pub fn shows_character(&self) -> bool {
        self.picture_count() > 0
    }

    /// How many viewports show a picture.
    pub fn picture_count(&self) -> usize {
        match &self.shown.scene {
            Some(_) => self.visible_views().len(),
            None => self.shown.pictures.iter().flatten().count(),
        }
    }

    /// Lets something else than the software renderer draw the viewports.
    pub fn set_painter(&mut self, painter: Box<dyn ViewPainter>) {
        self.painter = Some(painter);
    }

    /// Whether the pictures are those of the current frame, and no drafts.
    pub fn shows_current_frame(&self) -> bool {
        self.has_picture()
            && !self.shown.is_draft
            && (self.shown.frame, self.shown.revision) == (self.playback.frame(), self.status.revision)
    }

    /// The frame that is shown.
    pub fn frame(&self) -> usize {
        self.playback.frame()
    }

    /// How many frames there are so far.
    pub fn frame_count(&self) -> usize {
        self.status.frames
    }

    /// How many edits the take has.
    pub fn edit_count(&self) -> usize {
        self.status.edits.len()
    }

    /// What the session says of itself.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Arranges the viewports.
    pub fn arrange(&mut self, arrangement: Arrangement) {
        self.arrangement = arrangement;
    }

    /// Draws skin over flesh, or not.
    pub fn show_skin(&mut self, shows: bool) {
        self.show_skin = shows;
    }

    /// Whether the pictures have skin over flesh.
    pub fn shows_skin(&self) -> bool {
        self.shown.has_skin
    }

    /// Shows ghosts of the next second, or not.
    pub fn show_ghosts(&mut self, shows: bool) {
        self.show_ghosts = shows;
    }

    /// Chooses a tool.
    pub fn choose(&mut self, tool: Tool) {
        self.tool = tool;
    }

    /// Selects something.
    pub fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// What is selected.
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// Opens a dialog.
    pub fn show_dialog(&mut self, dialog: Dialog) {
        self.dialogs.show(dialog);
    }

    /// Bakes skin over flesh from now on, or not.
    pub fn bake_skin(&mut self, has_skin: bool) {
        self.dialogs.bake.has_skin = has_skin;
    }

    /// Bakes to a file, without its ending, with what was chosen last.
    pub fn bake_to(&mut self, output: &Path) {
        self.dialogs.bake.path = output.to_string_lossy().into_owned();
        self.start_bake();
    }

    /// Whether something is written in the background.
    pub fn is_working(&self) -> bool {
        self.dialogs.job.is_some()
    }

    /// The least and the largest painted number of what is open, as the brush left it.
    pub fn painted_range(&self) -> Option<[f32; 2]> {
        let all = self.painting.as_ref()?.values().iter().flatten();
        Some(all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], s| [low.min(*s), high.max(*s)]))
    }

    /// Whether the pictures show what is painted.
    pub fn shows_painting(&self) -> bool {
        match (&self.painting, &self.shown.painted) {
            (Some(painting), Some(shown)) => Arc::ptr_eq(painting.values(), shown) && !self.shown.is_draft,
            _ => false,
        }
    }

    /// Where the obstacles of the shown frame are (m).
    pub fn obstacle_places(&self) -> Vec<[f64; 3]> {
        let obstacles = self.shown.surfaces.obstacles.iter();
        obstacles.map(|obstacle| obstacle.pose.translation.vector.into()).collect()
    }

    /// Where a joint is in a viewport (points).
    pub fn joint_in_view(&self, view: usize, rig: usize, bone: usize) -> Option<[f32; 2]> {
        self.place_in_view(view, viewport::joint_place(&self.shown, rig, bone)?.into())
    }

    /// Where a point of the world is in a viewport (points).
    pub fn place_in_view(&self, view: usize, place: [f64; 3]) -> Option<[f32; 2]> {
        self.viewports[view].project(&place.into()).map(|at| [at.x, at.y])
    }

    /// Where the vertices of the first body are in a viewport (points).
    pub fn outline(&self, view: usize) -> Vec<[f32; 2]> {
        let points = viewport::points_of(&self.shown, Some(0));
        points.filter_map(|point| self.viewports[view].project(&point)).map(|at| [at.x, at.y]).collect()
    }

    /// How many ghosts there are.
    pub fn ghost_count(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.ghosts().kept.len())
    }

    /// How many bones the scene has.
    pub fn bone_count(&self) -> usize {
        self.document()
            .map_or(0, |document| document.model.rigs().iter().map(|rig| rig.skeleton.bones().len()).sum())
    }

    /// The middle of a viewport (points).
    pub fn middle_of_view(&self, view: usize) -> [f32; 2] {
        let middle = self.viewports[view].rect.center();
        [middle.x, middle.y]
    }

    /// Where it is, in a line.
    pub fn describe(&self) -> String {
        format!(
            "{:?} ({}), frame {} of {}, {} edits, stopped: {:?}, messages: {:?}",
            self.status.phase,
            self.status.doing,
            self.frame(),
            self.status.frames,
            self.edit_count(),
            self.status.stopped,
            self.messages.iter().map(|message| &message.text).collect::<Vec<_>>()
        )
    }
}
