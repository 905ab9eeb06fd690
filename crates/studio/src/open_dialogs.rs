//! Which dialogs are open, and what they and drags remember.

use crate::autosave::LostTake;
use crate::drafts::{BakeChoice, CurveDraft, DraggedHandle, DraggedObstacle, InspectorDraft, RenderChoice};
use crate::file_browser::FileBrowser;
use crate::jobs::Job;
use sinew_math::Vec3;

/// A window over the studio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Chooses a file to open.
    Open,
    /// Chooses where the take is kept.
    SaveTake,
    /// Writes the take in other formats.
    Bake,
    /// Draws pictures and clips of it.
    Render,
    /// The scene as text.
    SceneText,
    /// Theme, scale and mouse.
    Preferences,
    /// Keys and mouse.
    Help,
    /// A first look around.
    Tour,
}

/// Everything that dialogs and drags remember.
#[derive(Default)]
pub(crate) struct Dialogs {
    pub(crate) open: Vec<Dialog>,
    pub(crate) browser: FileBrowser,
    pub(crate) bake: BakeChoice,
    pub(crate) render: RenderChoice,
    /// The page of the tour.
    pub(crate) tour_page: usize,
    /// Takes that an earlier run left behind.
    pub(crate) recovery: Vec<LostTake>,
    /// What is being written in the background.
    pub(crate) job: Option<Job>,
    /// Whether preferences were changed and not written yet.
    pub(crate) preferences_changed: bool,
    pub(crate) draft: InspectorDraft,
    pub(crate) curves: CurveDraft,
    /// A handle of a metaphor that is being dragged.
    pub(crate) handle: Option<DraggedHandle>,
    /// An obstacle that its gizmo moves.
    pub(crate) obstacle: Option<DraggedObstacle>,
    /// Where a hand grabbed (m).
    pub(crate) held_place: Option<Vec3>,
}

impl Dialogs {
    /// Opens a dialog, in front of all others.
    pub(crate) fn show(&mut self, dialog: Dialog) {
        if !self.open.contains(&dialog) {
            self.open.push(dialog);
            match dialog {
                Dialog::Open => self.browser = FileBrowser::to_open(&self.browser),
                Dialog::SaveTake => self.browser = FileBrowser::to_save(&self.browser, "take.take"),
                Dialog::Tour => self.tour_page = 0,
                _ => {}
            }
        }
    }

    pub(crate) fn hide(&mut self, dialog: Dialog) {
        self.open.retain(|other| *other != dialog);
    }

    /// Closes the one that was opened last.
    pub(crate) fn close_top(&mut self) {
        self.open.pop();
    }

    /// Closes what belongs to a scene that is closed.
    pub(crate) fn close_for_scene(&mut self) {
        self.open.retain(|dialog| matches!(dialog, Dialog::Preferences | Dialog::Help | Dialog::Tour));
        self.draft = InspectorDraft::default();
        self.curves = CurveDraft::default();
        self.handle = None;
        self.obstacle = None;
        self.held_place = None;
    }
}
