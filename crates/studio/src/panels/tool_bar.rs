//! The tools at the left.

use crate::studio::Studio;
use crate::tools::Tool;
use egui::{Panel, Ui, Vec2};

impl Studio {
    pub(crate) fn tool_bar(&mut self, ui: &mut Ui) {
        Panel::left("tool bar").resizable(false).exact_size(78.0).show(ui, |ui| {
            ui.add_space(6.0);
            ui.add_enabled_ui(self.is_ready(), |ui| {
                for tool in Tool::ALL {
                    if matches!(
                        tool,
                        Tool::Pull | Tool::Paint | Tool::Metaphor(sinew_io::tables::MetaphorChoice::Stretch)
                    ) {
                        ui.separator();
                    }
                    let button = egui::Button::selectable(self.tool == tool, tool.name())
                        .min_size(Vec2::new(62.0, 26.0));
                    let key = tool.key().symbol_or_name();
                    let has_bones = self.document().is_some_and(|document| !document.model.rigs().is_empty());
                    let is_usable = if tool == Tool::Joints {
                        self.can_build()
                    } else {
                        has_bones || !tool.shows_joints()
                    };
                    let response =
                        ui.add_enabled(is_usable, button).on_hover_text(format!("{} ({key})", tool.hint()));
                    let response = response.on_disabled_hover_text(if has_bones {
                        "This scene has bones already"
                    } else {
                        "This scene has no bones"
                    });
                    if response.clicked() {
                        self.tool = tool;
                    }
                }
            });
        });
    }
}
