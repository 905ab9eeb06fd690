//! The studio: what is open, what is shown, what is selected, and which panels there are.

mod queries;

use crate::autosave::Autosave;
use crate::open_dialogs::{Dialog, Dialogs};
use crate::painting::{Brush, Painting, Quantity};
use crate::pictures::{PictureRequest, Pictures, RestRequest, Shown, ViewRequest};
use crate::playback::Playback;
use crate::preferences::Preferences;
use crate::selection::Selection;
use crate::session::{Command, Document, GhostRequest, OpenRequest, Phase, Session, Status};
use crate::tools::Tool;
use crate::view_painter::ViewPainter;
use crate::viewport::{self, ViewKind, Viewport};
use egui::Context;
use sinew_io::{CharacterChoice, EditTable};
use sinew_render::Overlays;
use sinew_take::GhostSpan;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// While time runs, passes of the interface are at least this far apart: no display shows more. The processor draws passes too where there is no graphics card.
const PASS: Duration = Duration::from_millis(7);
const SOFTWARE_PASS: Duration = Duration::from_millis(16);

/// How viewports are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// All four.
    Four,
    /// One of them, by its index.
    One(usize),
    /// Plain skinning beside flesh, from the first viewport.
    Comparison,
}

/// A message that disappears by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// What it says.
    pub text: String,
    /// Whether something went wrong; then it stays until it is closed.
    pub is_error: bool,
    /// How long it is still shown (s).
    pub seconds: f64,
}

/// Which panels are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenPanels {
    /// The list of what is in the scene.
    pub outliner: bool,
    /// The properties of what is selected.
    pub inspector: bool,
    /// Curves of keyed numbers.
    pub curves: bool,
}

/// The whole studio.
pub struct Studio {
    context: Context,
    pub(crate) session: Option<Session>,
    /// What was opened, to open it again in another way.
    pub(crate) request: OpenRequest,
    pub(crate) status: Status,
    pub(crate) pictures: Pictures,
    /// Draws viewports in place of the software renderer, where there is one.
    pub(crate) painter: Option<Box<dyn ViewPainter>>,
    pub(crate) shown: Shown,
    pub(crate) playback: Playback,
    pub(crate) viewports: [Viewport; 4],
    pub(crate) textures: [Option<(egui::TextureHandle, u64)>; 4],
    pub(crate) arrangement: Arrangement,
    /// The viewport that the mouse was over last.
    pub(crate) active_view: usize,
    pub(crate) overlays: Overlays,
    /// The strain at the end of the scale of colours.
    pub(crate) strain_scale: f64,
    pub(crate) selection: Selection,
    pub(crate) tool: Tool,
    pub(crate) panels: OpenPanels,
    pub(crate) messages: Vec<Message>,
    pub(crate) dialogs: Dialogs,
    pub(crate) preferences: Preferences,
    pub(crate) autosave: Autosave,
    /// A character that is being built.
    pub(crate) builder: crate::builder::Builder,
    /// What is being painted, what was painted besides it, and the brush of the scene before.
    pub(crate) painting: Option<Painting>,
    pub(crate) painting_aside: Option<Painting>,
    pub(crate) kept_brush: Option<(Quantity, Brush)>,
    /// A copy of the scene to which obstacles were added.
    pub(crate) scene_copy: Option<crate::scene_copy::SceneCopy>,
    /// Edits of the take before, which the one that is being opened takes over.
    kept_edits: Vec<EditTable>,
    /// Angles of the bone that is being posed (degrees).
    pub(crate) posed_angles: [f64; 3],
    /// Whether skin is drawn over flesh.
    pub(crate) show_skin: bool,
    /// Whether ghosts of what comes next are shown.
    pub(crate) show_ghosts: bool,
    /// The frame and the revision that ghosts were asked for.
    ghosts_of: Option<(usize, u64)>,
    /// The document that viewports were framed for, and whether they were framed for its first picture.
    framed: Option<(usize, bool)>,
}

impl Studio {
    /// A studio with nothing open, whose files are in a folder (preferences, takes that are not saved yet).
    pub fn new(context: &Context, folder: &Path) -> std::io::Result<Studio> {
        let wake = context.clone();
        let pictures = Pictures::start(move || wake.request_repaint())?;
        let (preferences, problem) = Preferences::load(folder);
        crate::theme::apply(context, preferences.theme);
        let mut studio = Studio {
            context: context.clone(),
            session: None,
            request: OpenRequest::default(),
            status: Status::default(),
            pictures,
            painter: None,
            shown: Shown::default(),
            playback: Playback::default(),
            viewports: ViewKind::ALL.map(Viewport::new),
            textures: Default::default(),
            arrangement: Arrangement::One(0),
            active_view: 0,
            overlays: Overlays::default(),
            strain_scale: 0.5,
            selection: Selection::Scene,
            tool: Tool::Select,
            panels: OpenPanels { outliner: true, inspector: true, curves: false },
            messages: Vec::new(),
            dialogs: Dialogs::default(),
            autosave: Autosave::in_folder(folder),
            preferences,
            builder: crate::builder::Builder::default(),
            painting: None,
            painting_aside: None,
            kept_brush: None,
            scene_copy: None,
            kept_edits: Vec::new(),
            posed_angles: [0.0; 3],
            show_skin: false,
            show_ghosts: false,
            ghosts_of: None,
            framed: None,
        };
        if let Some(problem) = problem {
            studio.warn(problem);
        }
        let lost = studio.autosave.recoverable();
        studio.dialogs.recovery = lost;
        Ok(studio)
    }

    // --- what is open

    /// Opens a file, a take or a built-in character with the defaults of the program.
    pub fn open(&mut self, input: &Path) {
        let request = OpenRequest { input: input.to_path_buf(), ..OpenRequest::default() };
        self.scene_copy = None;
        self.open_request(request);
    }

    /// Opens the same again in another way; what was directed so far is kept in its take.
    pub fn open_request(&mut self, mut request: OpenRequest) {
        self.close();
        if request.record_to.as_os_str().is_empty() || request.record_to == self.request.record_to {
            request.record_to = self.autosave.new_take(&request.input);
        }
        self.preferences.note_recent(&request.input);
        // what is simulated is shown at the pace of passes; a picture that follows a hand need not wait for one
        let (wake, pace, waker) = (self.context.clone(), self.pace(), self.pictures.waker());
        let told = move || {
            waker.tell();
            wake.request_repaint_after(pace);
        };
        self.session = Some(Session::open(request.clone(), told));
        self.request = request;
        self.playback = Playback { is_playing: true, ..Playback::default() };
    }

    /// Closes what is open. A take of a scene or a character that has no edits and was not saved is not kept: opening the same again makes the same take.
    pub fn close(&mut self) {
        let is_untouched = self.session.is_some() && self.status.version.1 <= 1 && !self.is_recorded_take();
        self.session = None;
        let take = std::mem::take(&mut self.status).take;
        if is_untouched && self.autosave.holds(&take) {
            // one that is left is offered at the next start
            let _ = std::fs::remove_file(take);
        }
        self.shown = Shown::default();
        self.pictures.clear();
        self.textures = Default::default();
        self.selection = Selection::Scene;
        self.builder = crate::builder::Builder::default();
        (self.painting, self.painting_aside) = (None, None);
        self.kept_edits.clear();
        self.framed = None;
        self.dialogs.close_for_scene();
    }

    /// Asks the session for something.
    pub(crate) fn send(&self, command: Command) {
        if let Some(session) = &self.session {
            session.send(command);
        }
    }

    /// The scene, once it is there.
    pub(crate) fn document(&self) -> Option<Arc<Document>> {
        self.status.document.clone()
    }

    /// The time of the shown frame (s).
    pub(crate) fn time(&self) -> f64 {
        self.document().map_or(0.0, |document| document.time_of(self.playback.frame()))
    }

    /// Adds an edit to those of the take, in the order of their times, and returns its place among them.
    pub(crate) fn add_edit(&mut self, edit: EditTable) -> usize {
        let mut edits = self.status.edits.clone();
        let at = edits.partition_point(|other| other.time <= edit.time);
        edits.insert(at, edit);
        self.send(Command::SetEdits(edits));
        at
    }

    /// Replaces an edit.
    pub(crate) fn replace_edit(&mut self, index: usize, edit: EditTable) {
        let mut edits = self.status.edits.clone();
        if let Some(own) = edits.get_mut(index) {
            *own = edit;
            self.send(Command::SetEdits(edits));
        }
    }

    /// Removes an edit.
    pub(crate) fn remove_edit(&mut self, index: usize) {
        let mut edits = self.status.edits.clone();
        if index < edits.len() {
            edits.remove(index);
            self.selection = Selection::Scene;
            self.send(Command::SetEdits(edits));
        }
    }

    // --- messages

    pub(crate) fn tell(&mut self, text: impl Into<String>) {
        self.messages.push(Message { text: text.into(), is_error: false, seconds: 6.0 });
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.messages.push(Message { text: text.into(), is_error: true, seconds: f64::INFINITY });
    }

    // --- one pass of the interface

    /// Shows the whole studio.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        let seconds = ui.input(|input| f64::from(input.stable_dt));
        self.follow_session(seconds);
        self.shortcuts(ui);
        self.open_dropped_files(ui);
        self.menu_bar(ui);
        self.status_bar(ui);
        self.timeline(ui);
        if self.panels.curves {
            self.curve_editor(ui);
        }
        self.tool_bar(ui);
        if self.panels.outliner {
            self.outliner(ui);
        }
        if self.panels.inspector {
            self.inspector(ui);
        }
        self.viewport_area(ui);
        self.show_dialogs(ui);
        self.show_messages(ui, seconds);
        self.ask_for_pictures(ui);
    }

    /// Takes over what other threads have done.
    fn follow_session(&mut self, seconds: f64) {
        let Some(session) = &self.session else { return };
        let edits_before = self.status.edits.len();
        self.status = session.status();
        // one that was undone is no longer there to be inspected; one that was added may still be to come
        let count = self.status.edits.len();
        if count < edits_before && matches!(self.selection, Selection::Edit(edit) if edit >= count) {
            self.selection = Selection::Scene;
        }
        if let Some(refusal) = self.status.refusal.take() {
            session.clear_refusal();
            self.warn(refusal);
        }
        self.shown = self.pictures.shown();
        // a picture of what was open before may come late
        let is_of = |document: &Arc<Document>| self.document().is_some_and(|own| Arc::ptr_eq(&own, document));
        if self.shown.document.as_ref().is_some_and(|document| !is_of(document)) {
            self.shown = Shown::default();
        }
        if let Some(rest) = self.status.rest.clone() {
            self.frame_points(Arc::as_ptr(&rest) as usize, rest.up, || rest.points());
        }
        let Some(document) = self.document() else { return };
        if self.status.phase == Phase::Ready && !self.kept_edits.is_empty() {
            let edits = std::mem::take(&mut self.kept_edits);
            if edits != self.status.edits {
                self.send(Command::SetEdits(edits));
            }
        }
        let (available, goal) = (self.status.frames, self.status.frame_goal);
        if self.status.is_held {
            self.playback.go_to(available.saturating_sub(1));
        } else {
            self.playback.advance(seconds, document.fps, available, goal);
        }
        if self.playback.is_playing || self.status.is_held {
            self.context.request_repaint_after(self.pace());
        }
        self.frame_new_document(&document);
        self.follow_ghosts(&document);
    }

    /// How far passes are apart while something changes by itself.
    fn pace(&self) -> Duration {
        if self.painter.is_some() { PASS } else { SOFTWARE_PASS }
    }

    /// Looks ahead from the shown frame, while it stays and nothing else is tried.
    fn follow_ghosts(&mut self, document: &Document) {
        let wanted = (self.show_ghosts && !self.playback.is_playing && !self.status.is_held)
            .then_some((self.playback.frame(), self.status.revision));
        if wanted == self.ghosts_of || self.dialogs.handle.is_some() {
            return;
        }
        self.ghosts_of = wanted;
        let frames = document.fps.round().max(1.0) as usize;
        let span = GhostSpan { frames, every: (frames / 4).max(1) };
        let request = wanted.map(|(frame, _)| GhostRequest { frame, span, edits: self.status.edits.clone() });
        self.send(Command::Ghosts(request));
    }

    /// Lets viewports see a scene that has just been opened.
    fn frame_new_document(&mut self, document: &Arc<Document>) {
        let id = Arc::as_ptr(document) as usize;
        self.frame_points(id, document.up, || viewport::rest_points(document));
        // the first frame may be elsewhere than the scene at rest
        let is_shown = self.shown.document.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, document));
        if self.framed == Some((id, false)) && is_shown {
            self.framed = Some((id, true));
            for view in &mut self.viewports {
                view.frame(viewport::points_of(&self.shown, None));
            }
        }
    }

    /// Lets viewports see the points of something, once.
    fn frame_points<Points: Iterator<Item = sinew_math::Vec3>>(
        &mut self,
        id: usize,
        up: sinew_take::Up,
        points: impl Fn() -> Points,
    ) {
        if self.framed.is_none_or(|(framed, _)| framed != id) && self.viewports[0].rect.width() > 0.0 {
            self.framed = Some((id, false));
            for view in &mut self.viewports {
                view.camera.up = up;
                view.frame(points());
            }
        }
    }

    /// Lets the active viewport see what is selected, or all.
    pub(crate) fn frame_selection(&mut self) {
        let place = match self.selection {
            Selection::Bone(rig, bone) => viewport::joint_place(&self.shown, rig, bone),
            _ => None,
        };
        let body = match self.selection {
            Selection::Body(body) => Some(body),
            _ => None,
        };
        let (Some(view), Some(document)) =
            (self.viewports.get_mut(self.active_view), self.status.document.as_ref())
        else {
            return;
        };
        match place {
            Some(place) => {
                let reach = sinew_math::Vec3::repeat(0.15 * document.body_size(0));
                view.frame([place - reach, place + reach].into_iter());
            }
            None => view.frame(viewport::points_of(&self.shown, body)),
        }
    }

    /// Which viewports are visible, by their indices.
    pub(crate) fn visible_views(&self) -> Vec<usize> {
        match self.arrangement {
            Arrangement::Four => vec![0, 1, 2, 3],
            Arrangement::One(view) => vec![view],
            Arrangement::Comparison => vec![0, 1],
        }
    }

    fn ask_for_pictures(&mut self, ui: &egui::Ui) {
        if self.framed.is_none() {
            return;
        }
        let views = self.wanted_views(ui);
        // a graphics card draws from any camera without being asked anew
        let draws = self.painter.is_none();
        let views = if draws { views } else { Vec::new() };
        if let Some(look) = self.status.rest.clone() {
            return self.pictures.ask_at_rest(RestRequest { look, views, draws });
        }
        let (Some(session), Some(document)) = (&self.session, self.document()) else { return };
        if self.status.phase != Phase::Ready {
            return;
        }
        let is_compared = self.arrangement == Arrangement::Comparison;
        let ghosts = session.ghosts().kept.iter().rev().map(|ghost| ghost.frame.clone()).collect();
        // what is being painted is shown in place of other colours
        let painting = self.painting.as_ref().filter(|_| self.tool == Tool::Paint);
        let painted = painting.map(|own| own.values().clone());
        let painted_scalar = painting.map(|own| own.quantity.scalar()).unwrap_or_default();
        let mut overlays = Overlays { skinned: is_compared, ..self.overlays };
        if painted.is_some() {
            overlays = Overlays { softness: true, strain: false, ..overlays };
        }
        let scale = if painted.is_some() { 2.0 } else { self.strain_scale };
        self.pictures.ask(PictureRequest {
            revision: self.status.revision,
            frame: self.playback.frame(),
            overlays,
            scale,
            views,
            draws,
            is_draft: self.is_in_motion(ui),
            follows_hand: self.dialogs.held_place.is_some() || self.status.is_held,
            ghosts: if self.show_ghosts { ghosts } else { Vec::new() },
            painted,
            painted_scalar,
            has_skin: self.show_skin,
            ..Pictures::request(session, document)
        });
    }

    /// The visible viewports, as they are to be drawn.
    fn wanted_views(&self, ui: &egui::Ui) -> Vec<ViewRequest> {
        let pixels = f64::from(ui.ctx().pixels_per_point());
        let is_compared = self.arrangement == Arrangement::Comparison;
        let view = |slot: &usize| {
            let view = &self.viewports[*slot];
            let size = [view.rect.width(), view.rect.height()]
                .map(|points| (f64::from(points) * pixels).round() as usize);
            let camera = if is_compared { self.viewports[0].camera } else { view.camera };
            ViewRequest { slot: *slot, camera, size, skinned: is_compared && *slot == 0 }
        };
        let views = self.visible_views();
        views.iter().map(view).filter(|view| view.size[0] > 1 && view.size[1] > 1).collect()
    }

    /// Whether pictures change from pass to pass.
    fn is_in_motion(&self, ui: &egui::Ui) -> bool {
        let is_dragged =
            ui.input(|input| input.pointer.any_down() || input.smooth_scroll_delta() != egui::Vec2::ZERO);
        let plays = self.playback.is_playing && self.status.frames > 1;
        plays || self.status.is_held || is_dragged
    }

    fn open_dropped_files(&mut self, ui: &egui::Ui) {
        let dropped: Vec<PathBuf> =
            ui.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        if let Some(path) = dropped.first() {
            self.open(path);
        }
    }

    /// Asks for another pass of the interface, from any thread.
    pub(crate) fn waker(&self) -> impl Fn() + Send + 'static {
        let context = self.context.clone();
        move || context.request_repaint()
    }

    /// Opens the same input with something chosen otherwise, and with the same edits.
    pub(crate) fn reopen_with(&mut self, change: impl FnOnce(&mut OpenRequest)) {
        let (mut request, edits) = (self.request.clone(), self.status.edits.clone());
        change(&mut request);
        let is_playing = self.playback.is_playing;
        self.open_request(request);
        self.playback.is_playing = is_playing;
        self.kept_edits = edits;
    }

    /// Whether what is open is a take from a file, whose scene is what it was recorded with.
    pub(crate) fn is_recorded_take(&self) -> bool {
        self.request.input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("take"))
    }

    /// The choice of characters of what is open.
    pub(crate) fn choice(&self) -> &CharacterChoice {
        &self.request.choice
    }

    /// Opens the scene of the tour at the first start; later the last one is one click away.
    pub fn greet(&mut self) {
        if !self.preferences.is_known && self.dialogs.recovery.is_empty() {
            self.open(Path::new("dancer"));
            self.dialogs.show(Dialog::Tour);
        }
    }

    /// Writes what is to be remembered, and ends the simulation.
    pub fn leave(&mut self) {
        if let Err(error) = self.preferences.save() {
            self.warn(format!("preferences were not saved: {error}"));
        }
        self.close();
    }
}
