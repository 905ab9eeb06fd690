"""What the scripts share that play GLB files in Blender: the document, its import, its meshes and where their vertices are."""
import json
import struct
import bpy


def document_of(path):
    """The document in the JSON chunk of a GLB file, and the length of the chunk."""
    with open(path, "rb") as file:
        length = struct.unpack("<5I", file.read(20))[3]
        return json.loads(file.read(length)), length


def load(path, fps, direction):
    """Imports a file into an empty scene. The direction of bones is an option of the importer; vertices that the file has twice stay two, in its order."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = fps
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False, bone_heuristic=direction)


def meshes(document):
    """The objects of all meshes, in the order of the nodes that show them."""
    names = [document["meshes"][node["mesh"]]["name"] for node in document["nodes"] if "mesh" in node]
    return [next(shown for shown in bpy.data.objects if shown.type == "MESH" and shown.data.name == name) for name in names]


def print_frame(objects, frame):
    """Prints the vertices of objects in a frame of the scene, in the axes of glTF, with all digits of single precision."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    places = []
    for shown in objects:
        shown = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places += [shown.matrix_world @ vertex.co for vertex in shown.to_mesh().vertices]
    print("frame", " ".join(f"{x:.9g} {z:.9g} {-y:.9g}" for x, y, z in places))
