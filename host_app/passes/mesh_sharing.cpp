// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <map>

#include "passes/mesh.h"

namespace ifr::host {
namespace {

using Position = std::array<float, 3>;

Position position_of(const shared::SceneVertex& vertex) {
  return {vertex.position[0], vertex.position[1], vertex.position[2]};
}

bool same_face_data(const shared::SceneVertex& a, const shared::SceneVertex& b) {
  return std::memcmp(a.normal, b.normal, sizeof(a.normal)) == 0 &&
         std::memcmp(a.color, b.color, sizeof(a.color)) == 0;
}

/// The vertices made so far, by place.
class CornerPool {
 public:
  explicit CornerPool(Mesh& out) : out_(out) {}

  /// A vertex at this place that may be the first corner of a face with these data, or -1.
  int64_t first_corner(const shared::SceneVertex& wanted) {
    for (const uint32_t index : places_[position_of(wanted)]) {
      if (!leads_face_[index] && out_.vertices[index].color[3] == wanted.color[3]) {
        leads_face_[index] = true;
        out_.vertices[index] = wanted;
        return index;
      }
      if (same_face_data(out_.vertices[index], wanted)) {
        return index;
      }
    }
    return -1;
  }
  uint32_t add(const shared::SceneVertex& vertex, bool leads_face) {
    const auto index = static_cast<uint32_t>(out_.vertices.size());
    out_.vertices.push_back(vertex);
    leads_face_.push_back(leads_face);
    places_[position_of(vertex)].push_back(index);
    return index;
  }
  /// Any vertex of the same material at this place: material moves corners.
  uint32_t any(const shared::SceneVertex& vertex) {
    for (const uint32_t index : places_[position_of(vertex)]) {
      if (out_.vertices[index].color[3] == vertex.color[3]) {
        return index;
      }
    }
    return add(vertex, false);
  }

 private:
  Mesh& out_;
  std::map<Position, std::vector<uint32_t>> places_;
  std::vector<bool> leads_face_;
};

}  // namespace

Mesh share_corners(const Mesh& mesh) {
  Mesh out;
  CornerPool pool(out);
  for (size_t face = 0; face + 2 < mesh.indices.size(); face += 3) {
    std::array<shared::SceneVertex, 3> corners;
    for (size_t corner = 0; corner < 3; ++corner) {
      corners[corner] = mesh.vertices[mesh.indices[face + corner]];
    }
    // The face's data are those of its own first corner, wherever the shared first corner will be.
    int64_t first = -1;
    size_t turn = 0;
    for (; turn < 3 && first < 0; ++turn) {
      shared::SceneVertex wanted = corners[0];
      std::memcpy(wanted.position, corners[turn].position, sizeof(wanted.position));
      first = pool.first_corner(wanted);
    }
    turn = first < 0 ? 0 : turn - 1;
    out.indices.push_back(first < 0 ? pool.add(corners[0], true) : static_cast<uint32_t>(first));
    out.indices.push_back(pool.any(corners[(turn + 1) % 3]));
    out.indices.push_back(pool.any(corners[(turn + 2) % 3]));
  }
  return out;
}

Silhouette silhouette(const Mesh& mesh) {
  Silhouette out;
  std::map<Position, uint32_t> places;
  for (const uint32_t index : mesh.indices) {
    const Position place = position_of(mesh.vertices[index]);
    const auto [entry, is_first] =
        places.try_emplace(place, static_cast<uint32_t>(out.positions.size()));
    if (is_first) {
      out.positions.emplace_back(place[0], place[1], place[2]);
    }
    out.indices.push_back(entry->second);
  }
  return out;
}

}  // namespace ifr::host
