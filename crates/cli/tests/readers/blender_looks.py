"""UV layers, materials and images that Blender makes of a file (USD or OBJ), as JSON: one object for each mesh."""
import json
import sys
import bpy

path = sys.argv[1]
bpy.ops.wm.read_factory_settings(use_empty=True)
if path.endswith(".usda"):
    bpy.ops.wm.usd_import(filepath=path)
else:
    bpy.ops.wm.obj_import(filepath=path)
meshes = []
for shown in bpy.context.scene.objects:
    if shown.type != "MESH":
        continue
    mesh = shown.data
    layer = mesh.uv_layers.active
    images = [
        [node.image.name, list(node.image.size)]
        for material in mesh.materials for node in material.node_tree.nodes
        if node.type == "TEX_IMAGE" and node.image and node.image.has_data | (node.image.size[0] > 0)
    ]
    meshes.append({
        "name": shown.name,
        "vertices": len(mesh.vertices),
        "uvs": [x for loop in layer.data for x in loop.uv] if layer else [],
        "corners": [loop.vertex_index for loop in mesh.loops],
        "materials": [material.name for material in mesh.materials],
        "material_faces": sorted({polygon.material_index for polygon in mesh.polygons}),
        "images": images,
    })
print("json", json.dumps(meshes))
