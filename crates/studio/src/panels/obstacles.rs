//! Obstacles that are placed and moved by hand.

use super::inspector::finished;
use crate::drafts::DraggedObstacle;
use crate::gizmo;
use crate::scene_copy::SceneCopy;
use crate::selection::Selection;
use crate::session::{Command, Document, Hand, HandTarget};
use crate::studio::Studio;
use crate::tools::Tool;
use crate::viewport;
use egui::{DragValue, PointerButton, Response, Ui};
use sinew_io::tables::ObstacleTable;
use sinew_math::Vec3;

impl Studio {
    /// Buttons that add obstacles to the scene.
    pub(crate) fn add_obstacles(&mut self, ui: &mut Ui, document: &Document) {
        ui.label("Add an obstacle");
        let mut added = None;
        ui.horizontal(|ui| {
            for name in ["Floor", "Ball", "Box", "Post"] {
                if ui.button(name).clicked() {
                    added = Some(name);
                }
            }
        });
        if let Some(name) = added {
            self.add_obstacle(document, name);
        }
    }

    /// Adds an obstacle of a kind beside the bodies, and begins a new take with it.
    fn add_obstacle(&mut self, document: &Document, kind: &str) {
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for point in viewport::points_of(&self.shown, None) {
            (low, high) = (low.inf(&point), high.sup(&point));
        }
        if !low.x.is_finite() {
            return;
        }
        let up = document.up.from_y_up(&Vec3::y());
        let (middle, size) = (0.5 * (low + high), (high - low).amax());
        let names: Vec<&str> = document.model.obstacles().iter().map(|other| other.name.as_str()).collect();
        let word = kind.to_lowercase();
        let name = (1..).map(|i| format!("{word} {i}")).find(|name| !names.contains(&name.as_str()));
        // on the ground beside the bodies, half of it within their width
        let beside = |height: f64| {
            let aside = Vec3::x() * (0.5 * (high - low).x + 0.2 * size);
            let ground = up * (low.dot(&up) - middle.dot(&up) + height);
            middle + aside + ground
        };
        let radius = 0.15 * size;
        let table = ObstacleTable { name, ..ObstacleTable::default() };
        let table = match kind {
            "Floor" => {
                let position = middle + up * (low.dot(&up) - middle.dot(&up));
                ObstacleTable { plane: Some(up.into()), position: Some(position.into()), ..table }
            }
            "Ball" => ObstacleTable { sphere: Some(radius), position: Some(beside(radius).into()), ..table },
            "Box" => ObstacleTable {
                cuboid: Some([2.0 * radius; 3]),
                position: Some(beside(radius).into()),
                ..table
            },
            _ => ObstacleTable {
                capsule: Some([0.6 * size, 0.3 * radius]),
                position: Some(beside(0.3 * size + 0.3 * radius).into()),
                ..table
            },
        };
        let added = self.change_scene(document, |copy| {
            copy.scene.obstacle.push(table);
            Ok(())
        });
        if added {
            self.selection = Selection::Obstacle(document.model.obstacles().len());
        }
    }

    /// Changes a copy of the scene, and begins a new take of it with the same edits; whether it does.
    pub(crate) fn change_scene(
        &mut self,
        document: &Document,
        change: impl FnOnce(&mut SceneCopy) -> Result<(), String>,
    ) -> bool {
        let copy = match self.scene_copy.clone() {
            Some(copy) => Ok(copy),
            None => SceneCopy::of(&self.request, document, &self.autosave.characters()),
        };
        let written = copy.and_then(|mut copy| {
            change(&mut copy)?;
            copy.write().map(|()| copy)
        });
        let is_begun = written.is_ok();
        match written {
            Ok(copy) => {
                let path = copy.path.clone();
                let selection = self.selection;
                self.reopen_with(|request| request.input = path);
                self.scene_copy = Some(copy);
                self.selection = selection;
            }
            Err(error) => self.warn(error),
        }
        is_begun
    }

    /// Where an obstacle that was placed here is at the start (m).
    pub(crate) fn placed_at(&self, document: &Document, index: usize) -> Option<[f64; 3]> {
        let table = self.placed(document, index)?;
        self.scene_copy.as_ref()?.scene.obstacle[table].position
    }

    /// The table of an obstacle that was placed here, by its index.
    fn placed(&self, document: &Document, index: usize) -> Option<usize> {
        let name = &document.model.obstacles().get(index)?.name;
        let placed = &self.scene_copy.as_ref()?.scene.obstacle;
        placed.iter().position(|table| table.name.as_ref() == Some(name))
    }

    /// Where an obstacle that was placed here is at the start, and a way to take it away.
    pub(crate) fn inspect_placed(&mut self, ui: &mut Ui, document: &Document, index: usize) {
        let Some(place) = self.placed(document, index) else { return };
        ui.separator();
        ui.strong("The whole take");
        ui.label("Place at the start (m)");
        let mut is_moved = false;
        ui.horizontal(|ui| {
            for (value, axis) in self.dialogs.draft.place.iter_mut().zip(["x ", "y ", "z "]) {
                let field = DragValue::new(value).prefix(axis).speed(0.01).max_decimals(3);
                is_moved |= finished(&ui.add(field));
            }
        });
        if is_moved {
            self.place_obstacle(document, place, self.dialogs.draft.place);
        }
        if ui.button("Remove it").on_hover_text("Begins a new take without it").clicked() {
            self.selection = Selection::Scene;
            self.change_scene(document, |copy| {
                copy.scene.obstacle.remove(place);
                Ok(())
            });
        }
    }

    fn place_obstacle(&mut self, document: &Document, place: usize, position: [f64; 3]) {
        self.change_scene(document, |copy| {
            copy.scene.obstacle[place].position = Some(position);
            Ok(())
        });
    }

    /// The gizmo of the selected obstacle: at the first frame it is placed by it, later it is moved while time runs.
    pub(crate) fn obstacle_gizmo(&mut self, ui: &Ui, slot: usize, response: &Response) {
        let (Selection::Obstacle(index), Some(document)) = (self.selection, self.document()) else {
            return;
        };
        let Some(obstacle) = self.shown.surfaces.obstacles.get(index).filter(|_| self.tool == Tool::Select)
        else {
            return;
        };
        let (name, now) = (obstacle.name.to_string(), obstacle.pose.translation.vector);
        let view = &self.viewports[slot];
        let dragged = self.dialogs.obstacle.filter(|dragged| dragged.index == index);
        let place = dragged.filter(|dragged| !dragged.is_held).map_or(now, |dragged| dragged.to);
        let mouse = response.interact_pointer_pos().or(response.hover_pos());
        let under = mouse.and_then(|mouse| gizmo::part_at(view, &place, mouse));
        gizmo::draw(&ui.painter_at(view.rect), view, &place, dragged.map(|dragged| dragged.part).or(under));
        let Some(mouse) = mouse else { return };

        if response.drag_started_by(PointerButton::Primary)
            && let Some(part) =
                ui.input(|input| input.pointer.press_origin()).and_then(|at| gizmo::part_at(view, &place, at))
        {
            let is_placed = self.shown.frame == 0 && self.placed(&document, index).is_some();
            let start = ui.input(|input| input.pointer.press_origin()).unwrap_or(mouse);
            self.dialogs.obstacle =
                Some(DraggedObstacle { index, part, from: now, to: now, mouse: start, is_held: !is_placed });
            if !is_placed {
                let target = HandTarget::Obstacle { name };
                self.send(Command::Grab(Hand { frame: self.shown.frame, target, place: now }));
            }
            return;
        }
        let Some(mut dragged) = dragged else { return };
        if response.dragged_by(PointerButton::Primary) {
            dragged.to = gizmo::moved(view, dragged.part, &dragged.from, [dragged.mouse, mouse]);
            self.dialogs.obstacle = Some(dragged);
            if dragged.is_held {
                self.send(Command::MoveHand(dragged.to));
            }
        }
        if response.drag_stopped_by(PointerButton::Primary) {
            self.dialogs.obstacle = None;
            if dragged.is_held {
                self.send(Command::Release);
            } else if let Some(place) = self.placed(&document, index) {
                self.place_obstacle(&document, place, dragged.to.into());
            }
        }
    }
}
