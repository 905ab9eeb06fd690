//! The limits of importers, one row each, with where they were found.

/// What an engine takes of a glTF file as it comes, without a user's own code.
pub(super) struct EngineRules {
    /// Its name in options.
    pub(super) name: &'static str,
    /// The engine and the version that was looked at.
    pub(super) version: &'static str,
    /// Morph targets of a mesh; `None` if no limit is known.
    pub(super) max_targets: Option<usize>,
    /// Vertices of a mesh with morph targets.
    pub(super) max_morph_vertices: Option<usize>,
    /// Joints per vertex.
    pub(super) max_influences: usize,
    /// Joints of a skin.
    pub(super) max_joints: Option<usize>,
    /// Extensions that it reads and a baked character may require.
    pub(super) extensions: &'static [&'static str],
    /// Extensions that it reads with something added, and what that is.
    pub(super) packages: &'static [(&'static str, &'static str)],
    /// Types of images.
    pub(super) images: &'static [&'static str],
    /// What to do about others.
    pub(super) image_advice: &'static str,
    /// The rate at which keys of transforms are sampled again (1/s), if they are.
    pub(super) resampled_fps: Option<f64>,
}

const TEXTURES: [&str; 2] = ["image/png", "image/jpeg"];
const MESHOPT_ADVICE: &str = "set GLTFLoader.setMeshoptDecoder, as the page of `sinew view` does";

/// In the order of [`super::Engine::ALL`].
pub(super) const RULES: [EngineRules; 5] = [
    // modules/gltf: the list of supported extensions and the pull request 120205 that adds quantisation; JOINTS_1 is read; transforms are sampled at the bake rate of the
    // import settings, 30 unless changed, while weights with straight lines between keys keep theirs
    EngineRules {
        name: "godot",
        version: "Godot 4.4",
        max_targets: None,
        max_morph_vertices: None,
        max_influences: 8,
        max_joints: None,
        extensions: &[
            "KHR_texture_transform",
            "KHR_materials_unlit",
            "KHR_texture_basisu",
            "EXT_texture_webp",
        ],
        packages: &[],
        images: &["image/png", "image/jpeg", "image/webp", "image/ktx2"],
        image_advice: "save them as PNG",
        resampled_fps: Some(30.0),
    },
    // Documentation~/features.md of com.unity.cloud.gltfast
    EngineRules {
        name: "unity",
        version: "Unity 6 with glTFast 6",
        max_targets: None,
        max_morph_vertices: None,
        max_influences: 4,
        max_joints: None,
        extensions: &["KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"],
        packages: &[
            ("EXT_meshopt_compression", "add the package com.unity.meshopt.decompress"),
            ("KHR_texture_basisu", "add the package com.unity.cloud.ktx"),
        ],
        images: &TEXTURES,
        image_advice: "save them as PNG or JPEG, or as KTX with the package com.unity.cloud.ktx",
        resampled_fps: None,
    },
    // InterchangeGltfTranslator: its list of supported extensions; GLTFCore reads JOINTS_0 alone
    EngineRules {
        name: "unreal",
        version: "Unreal Engine 5.5 with Interchange",
        max_targets: None,
        max_morph_vertices: None,
        max_influences: 4,
        max_joints: None,
        extensions: &["KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"],
        packages: &[],
        images: &TEXTURES,
        image_advice: "save them as PNG or JPEG",
        resampled_fps: None,
    },
    // bevy_mesh::morph::MAX_MORPH_WEIGHTS (64 up to 0.17) and its texture of 2048² numbers, nine a vertex; bevy_gltf: MAX_JOINTS, the table of extensions, JOINTS_0 alone;
    // of image types the default features have PNG and KTX2
    EngineRules {
        name: "bevy",
        version: "Bevy 0.19",
        max_targets: Some(256),
        max_morph_vertices: Some(2048 * 2048 / 9),
        max_influences: 4,
        max_joints: Some(256),
        extensions: &["KHR_texture_transform", "KHR_materials_unlit"],
        packages: &[],
        images: &["image/png", "image/ktx2"],
        image_advice: "turn on the feature of their type, or save them as PNG",
        resampled_fps: None,
    },
    // GLTFLoader; targets are layers of an array texture, of which WebGL 2 promises 256, and some phones lose meshes above about 240
    EngineRules {
        name: "web",
        version: "three.js r187",
        max_targets: Some(240),
        max_morph_vertices: None,
        max_influences: 4,
        max_joints: None,
        extensions: &[
            "KHR_mesh_quantization",
            "KHR_texture_transform",
            "KHR_materials_unlit",
            "EXT_texture_webp",
            "EXT_texture_avif",
        ],
        packages: &[
            ("EXT_meshopt_compression", MESHOPT_ADVICE),
            ("KHR_meshopt_compression", MESHOPT_ADVICE),
            ("KHR_texture_basisu", "set GLTFLoader.setKTX2Loader"),
        ],
        images: &["image/png", "image/jpeg", "image/webp", "image/avif"],
        image_advice: "set GLTFLoader.setKTX2Loader, or save them as PNG",
        resampled_fps: None,
    },
];
