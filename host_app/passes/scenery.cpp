// SPDX-License-Identifier: Apache-2.0
#include "passes/scenery.h"

#include <cmath>
#include <numbers>

namespace ifr::host {
namespace {

using glm::vec3;
constexpr float kPi = std::numbers::pi_v<float>;

constexpr Paint kBark{{0.42f, 0.30f, 0.22f}, shared::kMaterialFixed};
constexpr Paint kStone{{0.62f, 0.60f, 0.60f}, shared::kMaterialFixed};
constexpr Paint kBoulder{{0.62f, 0.60f, 0.60f}};
constexpr Paint kIron{{0.20f, 0.22f, 0.26f}, shared::kMaterialFixed};
constexpr Paint kTimber{{0.45f, 0.32f, 0.22f}, shared::kMaterialFixed};
constexpr Paint kGlass{{0.34f, 0.44f, 0.55f}, shared::kMaterialWindow};
constexpr Paint kLampGlass{{1.0f, 0.80f, 0.45f}, shared::kMaterialLamp};

Paint leaves(float r, float g, float b) {
  return {{r, g, b}, shared::kMaterialFoliage};
}

void conifer(MeshBuilder& out) {
  out.turned({.height = 0.7f,
              .radius_bottom = 0.16f,
              .radius_top = 0.13f,
              .num_sides = 5,
              .cap_top = false},
             kBark);
  const Paint tiers[] = {leaves(0.20f, 0.43f, 0.33f), leaves(0.24f, 0.49f, 0.35f),
                         leaves(0.31f, 0.56f, 0.38f)};
  for (int tier = 0; tier < 3; ++tier) {
    const auto step = static_cast<float>(tier);
    out.turned({.base = {0, 0.55f + 0.72f * step, 0},
                .height = 1.25f - 0.1f * step,
                .radius_bottom = 0.95f - 0.24f * step,
                .radius_top = 0.0f,
                .num_sides = 7,
                .twist = 0.6f * step,
                .cap_bottom = true},
               tiers[tier]);
  }
}

void round_tree(MeshBuilder& out) {
  out.turned({.height = 1.2f,
              .radius_bottom = 0.17f,
              .radius_top = 0.12f,
              .num_sides = 5,
              .cap_top = false},
             kBark);
  out.ball({0, 1.85f, 0}, {0.95f, 0.85f, 0.95f}, 1, 0.07f, leaves(0.46f, 0.63f, 0.30f));
  out.ball({0.5f, 1.45f, 0.3f}, {0.5f, 0.45f, 0.5f}, 0, 0.05f, leaves(0.41f, 0.58f, 0.28f));
}

void birch(MeshBuilder& out) {
  out.turned({.height = 1.5f,
              .radius_bottom = 0.10f,
              .radius_top = 0.08f,
              .num_sides = 5,
              .cap_top = false},
             {{0.86f, 0.84f, 0.80f}, shared::kMaterialFixed});
  out.ball({0, 2.1f, 0}, {0.62f, 1.0f, 0.62f}, 1, 0.06f, leaves(0.86f, 0.62f, 0.24f));
}

void bush(MeshBuilder& out) {
  out.ball({0, 0.28f, 0}, {0.45f, 0.36f, 0.42f}, 0, 0.1f, leaves(0.36f, 0.56f, 0.30f));
  out.ball({0.32f, 0.2f, 0.1f}, {0.3f, 0.25f, 0.3f}, 0, 0.1f, leaves(0.42f, 0.60f, 0.32f));
}

void flower(MeshBuilder& out) {
  for (int petal = 0; petal < 3; ++petal) {
    const float angle = 2.1f * static_cast<float>(petal);
    const vec3 at{0.16f * std::cos(angle), 0, 0.16f * std::sin(angle)};
    out.turned({.base = at + vec3(0, 0.02f, 0),
                .height = 0.22f,
                .radius_bottom = 0.0f,
                .radius_top = 0.09f,
                .num_sides = 4,
                .twist = angle},
               leaves(0.98f, 0.96f, 0.92f));
  }
}

struct HouseShape {
  float half_x = 0.9f;
  float half_z = 0.75f;
  float wall = 1.15f;
  float roof = 0.85f;
};

void wall_window(MeshBuilder& out, vec3 center, vec3 right, float width, float height) {
  const vec3 half = right * (0.5f * width);
  const vec3 up{0, 0.5f * height, 0};
  out.quad(center - half - up, center + half - up, center + half + up, center - half + up, kGlass);
}

void roof(MeshBuilder& out, const HouseShape& shape) {
  const float x = shape.half_x + 0.18f;
  const float z = shape.half_z + 0.2f;
  const float low = shape.wall - 0.12f;
  const float ridge = shape.wall + shape.roof;
  const Paint tiles{{0.96f, 0.96f, 0.96f}};  // the instance's tint colours it
  out.quad({-x, low, z}, {x, low, z}, {x, ridge, 0}, {-x, ridge, 0}, tiles);
  out.quad({x, low, -z}, {-x, low, -z}, {-x, ridge, 0}, {x, ridge, 0}, tiles);
  const Paint soffit{{0.5f, 0.42f, 0.36f}, shared::kMaterialFixed};
  out.quad({x, low, z}, {-x, low, z}, {-x, ridge - 0.1f, 0}, {x, ridge - 0.1f, 0}, soffit);
  out.quad({-x, low, -z}, {x, low, -z}, {x, ridge - 0.1f, 0}, {-x, ridge - 0.1f, 0}, soffit);
}

void house_body(MeshBuilder& out, const HouseShape& shape, int num_floors) {
  const Paint plaster{{0.97f, 0.90f, 0.80f}, shared::kMaterialFixed};
  const float hx = shape.half_x;
  const float hz = shape.half_z;
  out.box({{-hx, -0.4f, -hz}, {hx, shape.wall, hz}}, plaster);
  out.box({{-hx - 0.06f, -0.4f, -hz - 0.06f}, {hx + 0.06f, 0.16f, hz + 0.06f}}, kStone);
  out.triangle({hx, shape.wall, hz}, {hx, shape.wall, -hz},
               {hx, shape.wall + shape.roof * 0.82f, 0}, plaster);
  out.triangle({-hx, shape.wall, -hz}, {-hx, shape.wall, hz},
               {-hx, shape.wall + shape.roof * 0.82f, 0}, plaster);
  roof(out, shape);
  out.box({{hx * 0.35f, shape.wall, -hz * 0.6f},
           {hx * 0.35f + 0.26f, shape.wall + shape.roof + 0.18f, -hz * 0.6f + 0.26f}},
          kStone);
  out.box({{-0.2f, 0.1f, hz}, {0.2f, 0.78f, hz + 0.05f}}, kTimber);
  for (int floor = 0; floor < num_floors; ++floor) {
    const float y = 0.62f + 0.85f * static_cast<float>(floor);
    for (const float side : {-1.0f, 1.0f}) {
      wall_window(out, {side * hx * 0.6f, y, hz + 0.02f}, {1, 0, 0}, 0.34f, 0.4f);
      wall_window(out, {side * hx * 0.5f, y, -hz - 0.02f}, {-1, 0, 0}, 0.34f, 0.4f);
    }
    wall_window(out, {hx + 0.02f, y, 0}, {0, 0, -1}, 0.36f, 0.4f);
    wall_window(out, {-hx - 0.02f, y, 0}, {0, 0, 1}, 0.36f, 0.4f);
  }
}

void tower(MeshBuilder& out) {
  out.turned({.height = 4.6f,
              .radius_bottom = 1.0f,
              .radius_top = 0.78f,
              .num_sides = 8,
              .cap_top = false},
             {{0.78f, 0.74f, 0.70f}});
  out.turned({.base = {0, 4.6f, 0},
              .height = 0.3f,
              .radius_bottom = 1.02f,
              .radius_top = 1.02f,
              .num_sides = 8,
              .cap_bottom = true},
             kStone);
  out.turned({.base = {0, 4.9f, 0},
              .height = 0.75f,
              .radius_bottom = 0.62f,
              .radius_top = 0.62f,
              .num_sides = 8},
             {{1.0f, 0.84f, 0.5f}, shared::kMaterialLamp});
  out.turned({.base = {0, 5.6f, 0},
              .height = 1.5f,
              .radius_bottom = 1.05f,
              .radius_top = 0.0f,
              .num_sides = 8,
              .cap_bottom = true},
             {{0.44f, 0.42f, 0.62f}});
  for (int window = 0; window < 6; ++window) {
    const float angle = kPi * (0.125f + 0.25f * static_cast<float>(1 + 2 * (window % 4)));
    const float y = 1.1f + 0.85f * static_cast<float>(window % 4);
    const vec3 outward{std::cos(angle), 0, -std::sin(angle)};
    wall_window(out, outward * (0.98f - 0.048f * y) + vec3(0, y, 0), {-outward.z, 0, outward.x},
                -0.22f, 0.42f);
  }
}

void lamp(MeshBuilder& out) {
  out.turned({.height = 0.12f, .radius_bottom = 0.16f, .radius_top = 0.12f, .num_sides = 6}, kIron);
  out.turned({.height = 1.5f,
              .radius_bottom = 0.05f,
              .radius_top = 0.035f,
              .num_sides = 4,
              .cap_top = false},
             kIron);
  out.turned({.base = {0, 1.5f, 0},
              .height = 0.26f,
              .radius_bottom = 0.09f,
              .radius_top = 0.15f,
              .num_sides = 6},
             kLampGlass);
  out.turned({.base = {0, 1.76f, 0},
              .height = 0.14f,
              .radius_bottom = 0.2f,
              .radius_top = 0.0f,
              .num_sides = 6,
              .cap_bottom = true},
             kIron);
}

void bench(MeshBuilder& out) {
  out.box({{-0.5f, 0.24f, -0.16f}, {0.5f, 0.3f, 0.16f}, true}, kTimber);
  out.box({{-0.5f, 0.36f, -0.2f}, {0.5f, 0.56f, -0.15f}, true}, kTimber);
  out.box({{-0.44f, 0, -0.14f}, {-0.36f, 0.24f, 0.14f}}, kIron);
  out.box({{0.36f, 0, -0.14f}, {0.44f, 0.24f, 0.14f}}, kIron);
}

void fence(MeshBuilder& out) {
  const Paint wood{{0.78f, 0.68f, 0.55f}};
  for (const float x : {-0.45f, 0.45f}) {
    out.box({{x - 0.04f, -0.1f, -0.04f}, {x + 0.04f, 0.48f, 0.04f}}, wood);
  }
  out.box({{-0.5f, 0.18f, -0.02f}, {0.5f, 0.25f, 0.02f}}, wood);
  out.box({{-0.5f, 0.34f, -0.02f}, {0.5f, 0.41f, 0.02f}}, wood);
}

void mill(MeshBuilder& out) {
  out.turned({.height = 3.2f,
              .radius_bottom = 1.15f,
              .radius_top = 0.75f,
              .num_sides = 8,
              .cap_top = false},
             {{0.95f, 0.90f, 0.82f}});
  out.turned({.height = 0.5f,
              .radius_bottom = 1.25f,
              .radius_top = 1.14f,
              .num_sides = 8,
              .cap_top = false},
             kStone);
  out.turned({.base = {0, 3.2f, 0},
              .height = 1.0f,
              .radius_bottom = 0.95f,
              .radius_top = 0.0f,
              .num_sides = 8,
              .cap_bottom = true},
             {{0.72f, 0.34f, 0.26f}});
  out.box({{-0.22f, 0.3f, 1.0f}, {0.22f, 1.2f, 1.13f}}, kTimber);
  wall_window(out, {0, 2.1f, 0.90f}, {1, 0, 0}, 0.34f, 0.44f);
}

void mill_sails(MeshBuilder& out) {
  const Paint cloth{{0.97f, 0.94f, 0.88f}};
  for (int arm = 0; arm < 4; ++arm) {
    const float angle = 0.5f * kPi * static_cast<float>(arm);
    const vec3 along{std::cos(angle), std::sin(angle), 0};
    const vec3 across{-std::sin(angle), std::cos(angle), 0};
    const vec3 twist{0, 0, 0.12f};
    const auto at = [&](float l, float w) { return along * l + across * w + twist * (w / 0.5f); };
    out.quad(at(0.1f, -0.05f), at(2.5f, -0.05f), at(2.5f, 0.05f), at(0.1f, 0.05f), kTimber);
    out.quad(at(0.5f, 0.05f), at(2.45f, 0.05f), at(2.45f, 0.55f), at(0.5f, 0.5f), cloth);
    out.quad(at(0.5f, 0.5f), at(2.45f, 0.55f), at(2.45f, 0.05f), at(0.5f, 0.05f), cloth);
  }
  out.ball({0, 0, 0}, {0.16f, 0.16f, 0.2f}, 0, 0.0f, kIron);
}

void fountain(MeshBuilder& out) {
  out.turned({.height = 0.34f,
              .radius_bottom = 1.75f,
              .radius_top = 1.7f,
              .num_sides = 12,
              .cap_top = false},
             kStone);
  out.turned({.base = {0, 0.34f, 0},
              .height = 0.02f,
              .radius_bottom = 1.7f,
              .radius_top = 1.42f,
              .num_sides = 12,
              .cap_top = false},
             {{0.72f, 0.70f, 0.68f}});
  out.turned({.base = {0, 0.26f, 0},
              .height = 0.02f,
              .radius_bottom = 1.45f,
              .radius_top = 1.45f,
              .num_sides = 12},
             {{0.25f, 0.52f, 0.58f}, shared::kMaterialWater});
  out.turned({.height = 0.95f, .radius_bottom = 0.34f, .radius_top = 0.2f, .num_sides = 8}, kStone);
  out.turned({.base = {0, 0.95f, 0},
              .height = 0.16f,
              .radius_bottom = 0.2f,
              .radius_top = 0.62f,
              .num_sides = 10,
              .cap_top = false},
             kStone);
  out.turned({.base = {0, 1.08f, 0},
              .height = 0.01f,
              .radius_bottom = 0.58f,
              .radius_top = 0.58f,
              .num_sides = 10},
             {{0.25f, 0.52f, 0.58f}, shared::kMaterialWater});
}

void balloon(MeshBuilder& out) {
  const Paint light{{0.98f, 0.96f, 0.92f}};
  const Paint shade{{0.80f, 0.78f, 0.76f}};
  const float radii[] = {0.22f, 0.85f, 1.25f, 1.3f, 0.95f, 0.0f};
  const float heights[] = {0.0f, 0.6f, 1.3f, 1.95f, 2.6f, 2.95f};
  for (int ring = 0; ring < 5; ++ring) {
    for (int side = 0; side < 12; ++side) {
      const float a0 = 2.0f * kPi * static_cast<float>(side) / 12.0f;
      const float a1 = 2.0f * kPi * static_cast<float>(side + 1) / 12.0f;
      const auto at = [&](float angle, int r) {
        return vec3(radii[r] * std::cos(angle), 1.1f + heights[r], -radii[r] * std::sin(angle));
      };
      const Paint& paint = side % 2 == 0 ? light : shade;
      if (ring == 4) {
        out.triangle(at(a0, ring), at(a1, ring), at(a0, ring + 1), paint);
      } else {
        out.quad(at(a0, ring), at(a1, ring), at(a1, ring + 1), at(a0, ring + 1), paint);
      }
    }
  }
  out.box({{-0.24f, 0.0f, -0.24f}, {0.24f, 0.36f, 0.24f}, true}, kTimber);
  out.turned({.base = {0, 0.62f, 0},
              .height = 0.2f,
              .radius_bottom = 0.06f,
              .radius_top = 0.09f,
              .num_sides = 5},
             kLampGlass);
}

void cloud(MeshBuilder& out) {
  const Paint white{{1.0f, 1.0f, 1.0f}, shared::kMaterialCloud};
  out.smooth_ball({0, 0, 0}, {2.2f, 0.95f, 1.4f}, 1, white);
  out.smooth_ball({1.9f, -0.15f, 0.2f}, {1.5f, 0.7f, 1.1f}, 1, white);
  out.smooth_ball({-1.8f, -0.2f, -0.2f}, {1.4f, 0.65f, 1.0f}, 1, white);
  out.smooth_ball({0.5f, 0.55f, -0.2f}, {1.2f, 0.8f, 1.0f}, 1, white);
}

void islet(MeshBuilder& out) {
  out.turned({.base = {0, -0.35f, 0},
              .height = 0.35f,
              .radius_bottom = 1.9f,
              .radius_top = 2.0f,
              .num_sides = 9},
             {{0.47f, 0.62f, 0.33f}});
  out.turned({.base = {0, -1.7f, 0},
              .height = 1.35f,
              .radius_bottom = 1.05f,
              .radius_top = 1.9f,
              .num_sides = 9,
              .twist = 0.0f,
              .cap_top = false},
             {{0.52f, 0.44f, 0.40f}});
  out.turned({.base = {0.2f, -3.4f, 0.1f},
              .height = 1.72f,
              .radius_bottom = 0.0f,
              .radius_top = 1.06f,
              .num_sides = 7,
              .cap_top = false},
             {{0.44f, 0.37f, 0.36f}});
}

void guide(MeshBuilder& out) {
  const Paint shell{{0.95f, 0.96f, 0.98f}};
  const Paint face{{0.13f, 0.16f, 0.22f}};
  const Paint eye{{0.45f, 0.95f, 1.0f}, shared::kMaterialLamp};
  const Paint coral{{0.93f, 0.47f, 0.36f}};
  out.smooth_ball({0, 0.62f, 0}, {0.40f, 0.42f, 0.38f}, 2, shell);
  out.smooth_ball({0, 1.32f, 0}, {0.46f, 0.38f, 0.42f}, 2, shell);
  out.smooth_ball({0, 1.32f, 0.12f}, {0.37f, 0.27f, 0.34f}, 2, face);
  for (const float side : {-1.0f, 1.0f}) {
    out.smooth_ball({side * 0.14f, 1.35f, 0.42f}, {0.065f, 0.09f, 0.05f}, 1, eye);
    out.smooth_ball({side * 0.48f, 0.66f, 0.05f}, {0.12f, 0.24f, 0.14f}, 1, coral);
    out.turned({.base = {side * 0.46f, 1.24f, 0},
                .height = 0.2f,
                .radius_bottom = 0.1f,
                .radius_top = 0.1f,
                .num_sides = 8,
                .cap_bottom = true},
               coral);
  }
  out.turned({.base = {0, 1.68f, 0},
              .height = 0.26f,
              .radius_bottom = 0.02f,
              .radius_top = 0.015f,
              .num_sides = 5},
             kIron);
  out.smooth_ball({0, 1.98f, 0}, {0.075f, 0.075f, 0.075f}, 1,
                  {{1.0f, 0.62f, 0.35f}, shared::kMaterialLamp});
}

void guide_ring(MeshBuilder& out) {
  const Paint light{{0.35f, 0.85f, 1.0f}, shared::kMaterialLamp};
  for (int part = 0; part < 3; ++part) {
    for (int step = 0; step < 5; ++step) {
      const float a0 = 2.0944f * static_cast<float>(part) + 0.3f * static_cast<float>(step);
      const float a1 = a0 + 0.3f;
      const auto at = [](float angle, float radius) {
        return vec3(radius * std::cos(angle), 0, -radius * std::sin(angle));
      };
      out.quad(at(a0, 0.72f), at(a0, 0.80f), at(a1, 0.80f), at(a1, 0.72f), light);
      out.quad(at(a0, 0.80f), at(a0, 0.72f), at(a1, 0.72f), at(a1, 0.80f), light);
    }
  }
}

void bird(MeshBuilder& out) {
  const Paint dark{{0.30f, 0.30f, 0.36f}};
  for (const float side : {-1.0f, 1.0f}) {
    out.triangle({0, 0, 0.16f}, {side * 0.6f, 0.16f, -0.1f}, {0, 0, -0.14f}, dark);
    out.triangle({0, 0, -0.14f}, {side * 0.6f, 0.16f, -0.1f}, {0, 0, 0.16f}, dark);
  }
}

}  // namespace

Mesh build_prop(Prop prop) {
  MeshBuilder out;
  switch (prop) {
    case Prop::kConifer:
      conifer(out);
      break;
    case Prop::kRoundTree:
      round_tree(out);
      break;
    case Prop::kBirch:
      birch(out);
      break;
    case Prop::kBush:
      bush(out);
      break;
    case Prop::kFlower:
      flower(out);
      break;
    case Prop::kRock:
      out.ball({0, 0.12f, 0}, {0.5f, 0.34f, 0.42f}, 0, 0.16f, kBoulder);
      break;
    case Prop::kHouse:
      house_body(out, {}, 1);
      break;
    case Prop::kTallHouse:
      house_body(out, {0.85f, 0.85f, 2.0f, 1.05f}, 2);
      break;
    case Prop::kTower:
      tower(out);
      break;
    case Prop::kLamp:
      lamp(out);
      break;
    case Prop::kBench:
      bench(out);
      break;
    case Prop::kFence:
      fence(out);
      break;
    case Prop::kMill:
      mill(out);
      break;
    case Prop::kMillSails:
      mill_sails(out);
      break;
    case Prop::kFountain:
      fountain(out);
      break;
    case Prop::kBalloon:
      balloon(out);
      break;
    case Prop::kBird:
      bird(out);
      break;
    case Prop::kCloud:
      cloud(out);
      break;
    case Prop::kIslet:
      islet(out);
      break;
    case Prop::kGuide:
      guide(out);
      break;
    case Prop::kGuideRing:
      guide_ring(out);
      break;
    case Prop::kTerrain:
    case Prop::kCount:
      break;
  }
  return out.take();
}

}  // namespace ifr::host
