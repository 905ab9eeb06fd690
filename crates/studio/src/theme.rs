//! Colours and distances of the interface, light and dark.

use egui::{Color32, Context, CornerRadius, Stroke, Theme, Vec2, Visuals};

/// The colour of what is chosen or current.
pub(crate) const ACCENT: Color32 = Color32::from_rgb(233, 130, 74);
/// Frames in memory and on disk, and frames that are still to be simulated.
pub(crate) const CACHED: Color32 = Color32::from_rgb(84, 150, 96);
/// Edits on the timeline.
pub(crate) const EDIT: Color32 = Color32::from_rgb(98, 154, 224);
/// Errors.
pub(crate) const ERROR: Color32 = Color32::from_rgb(222, 92, 86);

/// Warnings, dark enough to be read on a light window.
pub(crate) fn warning(visuals: &Visuals) -> Color32 {
    if visuals.dark_mode { Color32::from_rgb(222, 176, 84) } else { Color32::from_rgb(150, 96, 0) }
}

/// The colour of the window behind all panels.
pub fn background(is_dark: bool) -> Color32 {
    if is_dark { Color32::from_rgb(38, 40, 44) } else { Color32::from_gray(248) }
}

/// Sets the style of all panels.
pub(crate) fn apply(context: &Context, theme: Theme) {
    context.set_theme(theme);
    for theme in [Theme::Dark, Theme::Light] {
        context.style_mut_of(theme, |style| {
            style.visuals = visuals(theme);
            style.spacing.item_spacing = Vec2::new(8.0, 6.0);
            style.spacing.button_padding = Vec2::new(8.0, 4.0);
            style.spacing.interact_size.y = 24.0;
            style.spacing.slider_width = 120.0;
        });
    }
}

fn visuals(theme: Theme) -> Visuals {
    let mut visuals = match theme {
        Theme::Dark => Visuals::dark(),
        Theme::Light => Visuals::light(),
    };
    if theme == Theme::Dark {
        visuals.window_fill = Color32::from_rgb(44, 46, 51);
        visuals.extreme_bg_color = Color32::from_rgb(26, 27, 30);
        visuals.faint_bg_color = Color32::from_rgb(45, 47, 52);
    }
    // panels are as the window is cleared: where the processor draws it, each layer over all of it costs tens of milliseconds
    visuals.panel_fill = Color32::TRANSPARENT;
    visuals.selection.bg_fill = ACCENT.gamma_multiply(if theme == Theme::Dark { 0.55 } else { 0.6 });
    visuals.selection.stroke =
        Stroke::new(1.0, if theme == Theme::Dark { Color32::WHITE } else { Color32::BLACK });
    visuals.hyperlink_color = EDIT;
    for widget in [
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
        &mut visuals.widgets.noninteractive,
    ] {
        widget.corner_radius = CornerRadius::same(4);
    }
    visuals
}
