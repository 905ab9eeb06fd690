//! Keys.

use crate::open_dialogs::Dialog;
use crate::session::Command;
use crate::studio::{Arrangement, Studio};
use crate::tools::Tool;
use crate::viewport::ViewKind;
use egui::{Key, Modifiers, Ui};

/// Keys and what they do, as the help sheet lists them.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("Space", "play or pause"),
    ("Left, Right", "one frame back or on; with Shift ten"),
    ("Home, End", "first and last frame"),
    ("Q", "select"),
    ("G", "pull flesh"),
    ("R, D", "reach with a joint, direct control"),
    ("1 2 3 4", "stretch, bend, twist, push"),
    ("P", "paint softness, or the fat of skin; with Shift smooth it"),
    ("J", "place joints in a mesh"),
    ("F", "frame what is selected"),
    ("F5 F6 F7", "one viewport, four, plain skinning beside flesh; again for one"),
    ("Ctrl+1, 3, 7", "look from the front, the side, above; Ctrl+0 in perspective"),
    ("C, N, T", "curves, inspector, outliner"),
    ("B", "bones"),
    ("Ctrl+Z, Ctrl+Shift+Z", "undo, redo"),
    ("Delete", "remove the selected edit"),
    ("Ctrl+O, Ctrl+S", "open, save the take"),
    ("Ctrl+B, Ctrl+R", "bake, render"),
    ("Escape", "let go, close a dialog"),
    ("F1", "this sheet"),
];

impl Studio {
    pub(crate) fn shortcuts(&mut self, ui: &Ui) {
        // keys belong to the field that is being typed in
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }
        let pressed =
            |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
        self.file_keys(ui, &pressed);
        self.edit_keys(&pressed);
        self.view_keys(&pressed);
        self.time_keys(&pressed);
        for tool in Tool::ALL {
            if pressed(Modifiers::NONE, tool.key()) {
                self.tool = tool;
            }
        }
    }

    fn file_keys(&mut self, ui: &Ui, pressed: &impl Fn(Modifiers, Key) -> bool) {
        let (command, is_ready) = (Modifiers::COMMAND, self.is_ready());
        if pressed(command, Key::O) {
            self.dialogs.show(Dialog::Open);
        }
        for (key, dialog) in [(Key::S, Dialog::SaveTake), (Key::B, Dialog::Bake), (Key::R, Dialog::Render)] {
            if pressed(command, key) && is_ready {
                self.dialogs.show(dialog);
            }
        }
        if pressed(command, Key::W) {
            self.close();
        }
        if pressed(command, Key::Q) {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close);
        }
        if pressed(Modifiers::NONE, Key::F1) {
            self.dialogs.show(Dialog::Help);
        }
        // an open menu is closed first, by itself
        if !egui::Popup::is_any_open(ui.ctx()) && pressed(Modifiers::NONE, Key::Escape) {
            self.dialogs.close_top();
            self.send(Command::Release);
        }
    }

    fn edit_keys(&mut self, pressed: &impl Fn(Modifiers, Key) -> bool) {
        let command = Modifiers::COMMAND;
        let shift_command = command | Modifiers::SHIFT;
        if pressed(shift_command, Key::Z) || pressed(command, Key::Y) {
            self.send(Command::Redo);
        }
        if pressed(command, Key::Z) {
            self.send(Command::Undo);
        }
        if pressed(Modifiers::NONE, Key::Delete)
            && let crate::selection::Selection::Edit(edit) = self.selection
        {
            self.remove_edit(edit);
        }
    }

    /// Where viewports look from, and what they show.
    fn view_keys(&mut self, pressed: &impl Fn(Modifiers, Key) -> bool) {
        let views = [
            (Key::Num1, ViewKind::Front),
            (Key::Num3, ViewKind::Side),
            (Key::Num7, ViewKind::Top),
            (Key::Num0, ViewKind::Perspective),
        ];
        for (key, kind) in views {
            if pressed(Modifiers::COMMAND, key) {
                self.viewports[self.active_view].look_from(kind);
            }
        }
        for (key, arrangement) in
            [(Key::F5, Arrangement::One(0)), (Key::F6, Arrangement::Four), (Key::F7, Arrangement::Comparison)]
        {
            if pressed(Modifiers::NONE, key) {
                let is_shown = self.arrangement == arrangement;
                self.arrangement = if is_shown { Arrangement::One(0) } else { arrangement };
            }
        }
        if pressed(Modifiers::NONE, Key::F) {
            self.frame_selection();
        }
        for (key, panel) in [
            (Key::C, &mut self.panels.curves),
            (Key::N, &mut self.panels.inspector),
            (Key::T, &mut self.panels.outliner),
        ] {
            if pressed(Modifiers::NONE, key) {
                *panel = !*panel;
            }
        }
        if pressed(Modifiers::NONE, Key::B) {
            self.overlays.bones = !self.overlays.bones;
        }
    }

    fn time_keys(&mut self, pressed: &impl Fn(Modifiers, Key) -> bool) {
        let available = self.status.frames;
        if pressed(Modifiers::NONE, Key::Space) {
            self.playback.is_playing = !self.playback.is_playing;
        }
        for (modifiers, frames) in [(Modifiers::SHIFT, 10), (Modifiers::NONE, 1)] {
            if pressed(modifiers, Key::ArrowLeft) {
                self.playback.step(-frames, available);
            }
            if pressed(modifiers, Key::ArrowRight) {
                self.playback.step(frames, available);
            }
        }
        if pressed(Modifiers::NONE, Key::Home) {
            self.playback.go_to(0);
        }
        if pressed(Modifiers::NONE, Key::End) {
            self.playback.go_to(available.saturating_sub(1));
        }
    }
}
