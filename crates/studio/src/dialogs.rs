//! Windows over the studio: opening, saving, baking, rendering, help. None of them blocks what is below.

mod bake;
mod files;
mod help;
mod preferences;
mod render;
mod scene_text;

use crate::autosave::LostTake;
use crate::file_browser::FileBrowser;
use crate::jobs::Job;
use crate::metaphor_widget::DraggedHandle;
use crate::panels::{CurveDraft, InspectorDraft};
use crate::studio::Studio;
use bake::BakeChoice;
use egui::Ui;
use render::RenderChoice;
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
    open: Vec<Dialog>,
    pub(crate) browser: FileBrowser,
    pub(crate) bake: BakeChoice,
    pub(crate) render: RenderChoice,
    /// The page of the tour.
    pub(crate) tour_page: usize,
    /// Takes that an earlier run left behind.
    pub(crate) recovery: Vec<LostTake>,
    /// What is being written in the background.
    pub(crate) job: Option<Job>,
    pub(crate) draft: InspectorDraft,
    pub(crate) curves: CurveDraft,
    /// A handle of a metaphor that is being dragged.
    pub(crate) handle: Option<DraggedHandle>,
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
        self.held_place = None;
    }
}

impl Studio {
    pub(crate) fn show_dialogs(&mut self, ui: &mut Ui) {
        for dialog in self.dialogs.open.clone() {
            match dialog {
                Dialog::Open => self.open_dialog(ui),
                Dialog::SaveTake => self.save_dialog(ui),
                Dialog::Bake => self.bake_dialog(ui),
                Dialog::Render => self.render_dialog(ui),
                Dialog::SceneText => self.scene_text_dialog(ui),
                Dialog::Preferences => self.preferences_dialog(ui),
                Dialog::Help => self.help_dialog(ui),
                Dialog::Tour => self.tour_dialog(ui),
            }
        }
        self.recovery_dialog(ui);
        self.follow_job(ui);
    }
}

/// A window with a title in the middle of the studio; whether it stays open.
pub(crate) fn window(ui: &Ui, title: &str, width: f32, contents: impl FnOnce(&mut Ui)) -> bool {
    let mut is_open = true;
    egui::Window::new(title)
        .open(&mut is_open)
        .collapsible(false)
        .resizable(false)
        .default_width(width)
        .pivot(egui::Align2::CENTER_CENTER)
        .default_pos(ui.ctx().content_rect().center())
        .show(ui.ctx(), |ui| {
            ui.set_width(width);
            contents(ui);
        });
    is_open
}
