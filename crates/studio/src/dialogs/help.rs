//! Keys and mouse, and a first look around.

use super::window;
use crate::open_dialogs::Dialog;
use crate::panels::KEYS;
use crate::preferences::Navigation;
use crate::studio::Studio;
use egui::{Grid, Ui};

/// Pages of the tour: a title and what to do.
const TOUR: [(&str, &str); 5] = [
    (
        "Watch",
        "The dancer is being simulated: green on the timeline are frames that are there. Space plays and pauses, dragging the timeline goes to any frame. Turn the view with the middle mouse button (or drag beside her with Select), the wheel zooms, F frames what is selected.",
    ),
    (
        "Grab",
        "Choose Pull (G) and drag her belly while time runs. When you let go, what your hand did is an edit: a blue mark on the timeline. Ctrl+Z takes it back.",
    ),
    (
        "Bend and twist",
        "Choose Twist (3) and click an arm. A widget appears: its handles say which part is twisted. The inspector at the right has its magnitude; C opens its curve over time.",
    ),
    (
        "Change your mind",
        "Select a body and change how stiff it is, or the scene and its gravity: it takes effect from the frame that you see, and what was before is not simulated again.",
    ),
    (
        "Take it elsewhere",
        "File, Bake writes glTF, USD, Alembic or point caches. What you see is what is baked.",
    ),
];

impl Studio {
    pub(super) fn help_dialog(&mut self, ui: &Ui) {
        let mouse: &[(&str, &str)] = match self.preferences.navigation {
            Navigation::Blender => &[
                ("middle button", "turn the view; with Shift move it, with Ctrl zoom"),
                ("wheel", "zoom"),
                ("right button", "move the view"),
                ("left button", "the tool; with Select it turns the view"),
            ],
            Navigation::Maya => &[
                ("Alt + left", "turn the view"),
                ("Alt + middle", "move it"),
                ("Alt + right, wheel", "zoom"),
                ("left button", "the tool"),
            ],
        };
        let stays = window(ui, "Keys and mouse", 520.0, |ui| {
            let height = (ui.ctx().content_rect().height() - 200.0).max(160.0);
            egui::ScrollArea::vertical().max_height(height).show(ui, |ui| {
                for (title, rows) in [("Mouse", mouse), ("Keys", KEYS)] {
                    ui.strong(title);
                    Grid::new(title).num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
                        for (key, meaning) in rows {
                            ui.monospace(*key);
                            ui.label(*meaning);
                            ui.end_row();
                        }
                    });
                    ui.add_space(6.0);
                }
            });
        });
        if !stays {
            self.dialogs.hide(Dialog::Help);
        }
    }

    pub(super) fn tour_dialog(&mut self, ui: &Ui) {
        let page = self.dialogs.tour_page.min(TOUR.len() - 1);
        let (title, text) = TOUR[page];
        let mut is_done = false;
        let mut is_open = true;
        egui::Window::new(format!("Tour {} of {}: {title}", page + 1, TOUR.len()))
            .id(egui::Id::unique("tour"))
            .open(&mut is_open)
            .collapsible(false)
            .resizable(false)
            .default_width(340.0)
            .anchor(egui::Align2::RIGHT_BOTTOM, [-300.0, -132.0])
            .show(ui.ctx(), |ui| {
                ui.label(text);
                ui.add_space(6.0);
                ui.horizontal(|ui| {
                    if ui.add_enabled(page > 0, egui::Button::new("Back")).clicked() {
                        self.dialogs.tour_page = page - 1;
                    }
                    if page + 1 < TOUR.len() {
                        if ui.button("Next").clicked() {
                            self.dialogs.tour_page = page + 1;
                        }
                    } else if ui.button("Done").clicked() {
                        is_done = true;
                    }
                });
            });
        if is_done || !is_open {
            self.dialogs.hide(Dialog::Tour);
        }
    }
}
