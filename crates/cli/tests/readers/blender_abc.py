"""Meshes of an Alembic archive as Blender plays it, as JSON: vertices in the axes of the archive, in the frames asked for, corner normals of the last frame, and UVs."""
import json
import sys
import bpy

path, fps, frames = sys.argv[1], int(sys.argv[2]), [int(frame) for frame in sys.argv[3:]]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = fps
bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
meshes = []
for shown in bpy.context.scene.objects:
    if shown.type != "MESH":
        continue
    positions = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        mesh = shown.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        places = [shown.matrix_world @ vertex.co for vertex in mesh.vertices]
        positions.append([c for x, y, z in places for c in (x, z, -y)])
    normals = [normal.vector for normal in mesh.corner_normals]
    meshes.append({
        "name": shown.name,
        "frames": positions,
        "corners": [loop.vertex_index for loop in mesh.loops],
        "normals": [c for x, y, z in normals for c in (x, z, -y)],
        "uvs": [x for loop in mesh.uv_layers[0].data for x in loop.uv] if mesh.uv_layers else [],
    })
print("json", json.dumps(meshes))
