//! What engines make of a glTF file: the limits of their importers, and what of a file goes beyond them.
//!
//! [`FileFacts`] are read from the JSON of a document, the rules of each [`Engine`] stand in one table, and [`Engine::findings`] compares the two. Nothing is known of what a
//! user's own code or settings change.

mod facts;
mod rules;

pub use facts::{ClipFacts, FileFacts, MeshFacts};

use rules::{EngineRules, RULES};
use std::fmt;

/// An engine, or the web as three.js plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Godot 4.
    Godot,
    /// Unity with its package glTFast.
    Unity,
    /// Unreal Engine 5 with its importer Interchange.
    Unreal,
    /// Bevy.
    Bevy,
    /// three.js, and viewers made of it.
    Web,
}

/// How bad it is that a file goes beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It plays, not quite as it was written.
    Changed,
    /// A part of the file is ignored.
    Dropped,
    /// The file, or a mesh of it, is not loaded.
    Refused,
}

/// What an engine does not take as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFinding {
    /// How bad it is.
    pub severity: Severity,
    /// What, how much, and what to do, in one sentence.
    pub text: String,
}

impl fmt::Display for EngineFinding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let severity = match self.severity {
            Severity::Changed => "changed",
            Severity::Dropped => "dropped",
            Severity::Refused => "refused",
        };
        write!(f, "{severity}: {}", self.text)
    }
}

impl Engine {
    /// All engines, in the order of their table.
    pub const ALL: [Engine; 5] = [Engine::Godot, Engine::Unity, Engine::Unreal, Engine::Bevy, Engine::Web];

    /// The engine of a name, in upper or lower case.
    pub fn named(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name().eq_ignore_ascii_case(name))
    }

    /// Its name in options.
    pub fn name(self) -> &'static str {
        self.rules().name
    }

    /// Its name and the version whose rules are known.
    pub fn version(self) -> &'static str {
        self.rules().version
    }

    fn rules(self) -> &'static EngineRules {
        // the table has the order of the variants, which a test checks
        &RULES[self as usize]
    }

    /// What of a file this engine refuses, drops or changes, the worst first.
    pub fn findings(self, file: &FileFacts) -> Vec<EngineFinding> {
        let rules = self.rules();
        let mut findings = Vec::new();
        rules.check_extensions(file, &mut findings);
        file.meshes.iter().for_each(|mesh| rules.check_mesh(mesh, &mut findings));
        rules.check_joints(file, &mut findings);
        rules.check_images(file, &mut findings);
        file.clips.iter().for_each(|clip| rules.check_clip(clip, &mut findings));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }
}

impl EngineRules {
    fn check_extensions(&self, file: &FileFacts, findings: &mut Vec<EngineFinding>) {
        for extension in &file.required {
            if self.extensions.contains(&extension.as_str()) {
                continue;
            }
            let package = self.packages.iter().find(|(of, _)| *of == extension.as_str());
            findings.push(match package {
                Some((_, package)) => EngineFinding {
                    severity: Severity::Refused,
                    text: format!("the file requires {extension}: {package}"),
                },
                None => EngineFinding {
                    severity: Severity::Refused,
                    text: format!(
                        "the file requires {extension}, which the importer does not know: write it without"
                    ),
                },
            });
        }
    }

    fn check_mesh(&self, mesh: &MeshFacts, findings: &mut Vec<EngineFinding>) {
        let MeshFacts { name, targets, influences, vertices } = mesh;
        if let Some(limit) = self.max_targets.filter(|limit| targets > limit) {
            let text = format!(
                "mesh '{name}' has {targets} morph targets, {limit} are taken: bake with --morph-targets {limit}"
            );
            findings.push(EngineFinding { severity: Severity::Refused, text });
        }
        if let Some(limit) = self.max_morph_vertices.filter(|limit| *targets > 0 && vertices > limit) {
            let text = format!(
                "mesh '{name}' has morph targets and {vertices} vertices, {limit} are taken: split the mesh"
            );
            findings.push(EngineFinding { severity: Severity::Refused, text });
        }
        if *influences > self.max_influences {
            let limit = self.max_influences;
            let text = format!(
                "mesh '{name}' has {influences} joints per vertex, {limit} are read: limit the influences to {limit}"
            );
            findings.push(EngineFinding { severity: Severity::Dropped, text });
        }
    }

    fn check_joints(&self, file: &FileFacts, findings: &mut Vec<EngineFinding>) {
        if let Some(limit) = self.max_joints.filter(|limit| file.joints > *limit) {
            let joints = file.joints;
            let text = format!(
                "a skin has {joints} joints, {limit} are taken: use fewer joints or helpers, or split the skin"
            );
            findings.push(EngineFinding { severity: Severity::Refused, text });
        }
    }

    fn check_images(&self, file: &FileFacts, findings: &mut Vec<EngineFinding>) {
        for kind in file.images.iter().filter(|kind| !self.images.contains(&kind.as_str())) {
            let text =
                format!("images of type {kind} are not read as the engine comes: {}", self.image_advice);
            findings.push(EngineFinding { severity: Severity::Dropped, text });
        }
    }

    fn check_clip(&self, clip: &ClipFacts, findings: &mut Vec<EngineFinding>) {
        let ClipFacts { name, rate, is_cubic } = clip;
        // transforms sampled at a lower rate part from morph weights, which keep their keys
        if let Some(fps) = self.resampled_fps.filter(|fps| *rate > fps + 0.5) {
            let text = format!(
                "clip '{name}' has joint keys at {rate:.0} per second, which are resampled at {fps:.0}: set Animation > FPS to {rate:.0} in the import settings"
            );
            findings.push(EngineFinding { severity: Severity::Changed, text });
        }
        if *is_cubic && self.resampled_fps.is_some() {
            let text =
                format!("clip '{name}' has cubic splines, which become straight lines between samples");
            findings.push(EngineFinding { severity: Severity::Changed, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine, what it does, and words of how it is said.
    type Expected = (Engine, Severity, &'static str);

    fn plain() -> FileFacts {
        FileFacts {
            meshes: vec![MeshFacts { name: "body".into(), targets: 64, influences: 4, vertices: 3000 }],
            joints: 60,
            required: Vec::new(),
            images: vec!["image/png".into()],
            clips: vec![ClipFacts { name: "walk".into(), rate: 30.0, is_cubic: false }],
        }
    }

    #[test]
    fn every_engine_has_its_row_of_the_table() {
        for (index, engine) in Engine::ALL.into_iter().enumerate() {
            assert_eq!(engine as usize, index);
            assert_eq!(Engine::named(&engine.name().to_uppercase()), Some(engine));
            assert!(engine.version().to_lowercase().contains(match engine {
                Engine::Web => "three.js",
                other => other.name(),
            }));
        }
        assert_eq!(Engine::named("quake"), None);
    }

    #[test]
    fn a_plain_file_plays_everywhere() {
        for engine in Engine::ALL {
            assert_eq!(engine.findings(&plain()), [], "{engine:?}");
        }
    }

    #[test]
    fn every_limit_is_found_where_it_is_and_not_below() {
        let with = |change: &dyn Fn(&mut FileFacts)| {
            let mut facts = plain();
            change(&mut facts);
            facts
        };
        let cases: [(FileFacts, &[Expected]); 7] = [
            (
                with(&|file| file.required = vec!["KHR_mesh_quantization".into()]),
                &[
                    (Engine::Godot, Severity::Refused, "KHR_mesh_quantization"),
                    (Engine::Bevy, Severity::Refused, "KHR_mesh_quantization"),
                ],
            ),
            (
                with(&|file| file.meshes[0].influences = 8),
                &[
                    (Engine::Unity, Severity::Dropped, "8 joints per vertex"),
                    (Engine::Unreal, Severity::Dropped, "8 joints per vertex"),
                    (Engine::Bevy, Severity::Dropped, "8 joints per vertex"),
                    (Engine::Web, Severity::Dropped, "8 joints per vertex"),
                ],
            ),
            (
                with(&|file| file.meshes[0].targets = 257),
                &[
                    (Engine::Bevy, Severity::Refused, "--morph-targets 256"),
                    (Engine::Web, Severity::Refused, "--morph-targets 240"),
                ],
            ),
            (with(&|file| file.joints = 257), &[(Engine::Bevy, Severity::Refused, "257 joints")]),
            (
                with(&|file| file.meshes[0].vertices = 500_000),
                &[(Engine::Bevy, Severity::Refused, "500000 vertices")],
            ),
            (
                with(&|file| file.images = vec!["image/webp".into()]),
                &[
                    (Engine::Unity, Severity::Dropped, "image/webp"),
                    (Engine::Unreal, Severity::Dropped, "image/webp"),
                    (Engine::Bevy, Severity::Dropped, "image/webp"),
                ],
            ),
            (
                with(&|file| file.clips[0].rate = 60.0),
                &[(Engine::Godot, Severity::Changed, "60 per second, which are resampled at 30")],
            ),
        ];
        for (facts, expected) in cases {
            for engine in Engine::ALL {
                let found = engine.findings(&facts);
                match expected.iter().find(|(of, ..)| *of == engine) {
                    None => assert_eq!(found, [], "{engine:?}"),
                    Some((_, severity, words)) => {
                        assert_eq!(found.len(), 1, "{engine:?}: {found:?}");
                        assert_eq!(found[0].severity, *severity);
                        assert!(found[0].text.contains(words), "{}", found[0]);
                    }
                }
            }
        }
    }

    #[test]
    fn the_worst_comes_first() {
        let mut facts = plain();
        facts.clips[0].rate = 60.0;
        facts.required = vec!["EXT_meshopt_compression".into()];
        let found = Engine::Godot.findings(&facts);
        assert_eq!(
            found.iter().map(|finding| finding.severity).collect::<Vec<_>>(),
            [Severity::Refused, Severity::Changed]
        );
    }
}
