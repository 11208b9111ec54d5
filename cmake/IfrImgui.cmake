# SPDX-License-Identifier: Apache-2.0
# Dear ImGui with ImPlot and the Vulkan and GLFW backends, as the target interframe_imgui. A user's own packages win;
# else the pinned source distribution that scripts/setup.sh unpacked. Nothing is downloaded here.

set(IFR_IMGUI_DIR "" CACHE PATH "Folder that holds imgui/ and implot/ (empty: build/deps, as scripts/setup.sh fills it)")

find_package(imgui CONFIG QUIET)
find_package(implot CONFIG QUIET)
if(TARGET imgui::imgui AND TARGET implot::implot AND NOT IFR_IMGUI_DIR)
  add_library(interframe_imgui INTERFACE)
  target_link_libraries(interframe_imgui INTERFACE imgui::imgui implot::implot)
else()
  set(ifr_imgui_root "${IFR_IMGUI_DIR}")
  if(NOT ifr_imgui_root)
    set(ifr_imgui_root ${PROJECT_SOURCE_DIR}/build/deps)
  endif()
  if(EXISTS ${ifr_imgui_root}/imgui/imgui.h AND EXISTS ${ifr_imgui_root}/implot/implot.h AND Vulkan_FOUND
     AND glfw3_FOUND)
    add_library(interframe_imgui STATIC
      ${ifr_imgui_root}/imgui/imgui.cpp
      ${ifr_imgui_root}/imgui/imgui_draw.cpp
      ${ifr_imgui_root}/imgui/imgui_tables.cpp
      ${ifr_imgui_root}/imgui/imgui_widgets.cpp
      ${ifr_imgui_root}/imgui/backends/imgui_impl_glfw.cpp
      ${ifr_imgui_root}/imgui/backends/imgui_impl_vulkan.cpp
      ${ifr_imgui_root}/implot/implot.cpp
      ${ifr_imgui_root}/implot/implot_items.cpp
      ${PROJECT_SOURCE_DIR}/ui/imgui_assert.cpp)  # what this distribution's IM_ASSERT calls
    # SYSTEM: third-party headers are outside our warnings.
    target_include_directories(interframe_imgui SYSTEM PUBLIC
      ${ifr_imgui_root}/imgui ${ifr_imgui_root}/imgui/backends ${ifr_imgui_root}/implot)
    target_link_libraries(interframe_imgui PUBLIC Vulkan::Vulkan glfw)
    # Only implot_items.cpp is heavy: every type is instantiated; the ones we plot suffice.
    target_compile_definitions(interframe_imgui PRIVATE
      "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)(ImS32)(ImU32)(ImS64)(ImU64)")
  endif()
endif()
