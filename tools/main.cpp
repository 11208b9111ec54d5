// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/command.h"
#include "tools/sparse_option.h"

namespace {

using ifr::tools::GenerateOptions;
using ifr::tools::InfoOptions;
using ifr::tools::LogitsOptions;
using ifr::tools::PerplexityOptions;

void add_info(CLI::App& app, InfoOptions& options) {
  CLI::App* command = app.add_subcommand("info", "Prints what a model file is and needs, as JSON");
  command
      ->add_option("model", options.model,
                   "A .gguf file or a folder with config.json and safetensors")
      ->required();
  command
      ->add_option("--context", options.context_tokens, "Tokens of context to compute the need for")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--sparse", options.sparse, ifr::tools::kSparseHelp);
}

void add_generate(CLI::App& app, GenerateOptions& options) {
  CLI::App* command = app.add_subcommand("generate", "Answers a prompt");
  command
      ->add_option("model", options.model,
                   "A .gguf file or a folder with config.json and safetensors")
      ->required();
  command
      ->add_option("--prompt", options.prompt,
                   "Text; for a model without tokenizer its bytes are the token ids")
      ->required();
  command->add_option("--max-tokens", options.max_tokens, "Longest answer")->capture_default_str();
  command->add_option("--temperature", options.temperature, "0: greedy")->capture_default_str();
  command->add_option("--top-k", options.top_k, "0: off")->capture_default_str();
  command->add_option("--top-p", options.top_p, "1: off")->capture_default_str();
  command->add_option("--seed", options.seed, "Makes a run repeatable")
      ->each([&options](const std::string&) { options.has_seed = true; });
  command->add_option("--context", options.context_tokens,
                      "Tokens of context; 0: the smaller of the model's and 4096");
  command->add_option("--threads", options.threads, "CPU threads; 0: one fewer than the cores");
  command->add_option("--backend", options.backend, "cpu or cuda")->capture_default_str();
  command->add_flag("--chat", options.chat,
                    "The prompt is a user's message in the model's chat form");
  command->add_flag("--parse-special", options.parse_special,
                    "Names of control tokens in the prompt become those tokens");
  command->add_flag("--ignore-end", options.ignore_end, "Go on past end tokens");
  command->add_flag("--json", options.json,
                    "One JSON object with ids, text and times instead of the streamed text");
}

void add_logits(CLI::App& app, LogitsOptions& options) {
  CLI::App* command =
      app.add_subcommand("logits", "Writes the logits and selections of given tokens");
  command
      ->add_option("model", options.model,
                   "A .gguf file or a folder with config.json and safetensors")
      ->required();
  command
      ->add_option("--tokens", options.tokens,
                   "Safetensors file with input_ids and, if wanted, decode_ids")
      ->required();
  command->add_option("--out", options.out, "Safetensors file to write")->required();
  command->add_option("--chunk", options.chunk_tokens, "Tokens of a prefill step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--backend", options.backend, "cpu or cuda")->capture_default_str();
  command->add_option("--activations", options.activations, "f32 or bf16")->capture_default_str();
  command->add_option("--sparse", options.sparse, ifr::tools::kSparseHelp);
  command->add_option("--threads", options.threads, "CPU threads; 0: all usable cores");
}

void add_perplexity(CLI::App& app, PerplexityOptions& options) {
  CLI::App* command = app.add_subcommand(
      "perplexity",
      "Prints how well a model predicts a text: consecutive windows, each from an empty context, "
      "the second half of each scored");
  command
      ->add_option("model", options.model,
                   "A .gguf file or a folder with config.json and safetensors")
      ->required();
  command
      ->add_option("--text", options.text,
                   "UTF-8 file; for a model without tokenizer its bytes are the token ids")
      ->required();
  command->add_option("--windows", options.num_windows, "Most windows; 0: all the text fills")
      ->check(CLI::Range(0, 1 << 30));
  command
      ->add_option("--window-tokens", options.window_tokens,
                   "Tokens of a window; 0: the smaller of the model's context and 2048")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--sparse", options.sparse, ifr::tools::kSparseHelp);
  command->add_option("--json", options.json, "File for the result as JSON; -: standard output");
  command->add_option("--threads", options.threads, "CPU threads; 0: all usable cores");
}

int run(int argc, char** argv) {
  CLI::App app("Interframe: a language model between the frames", "interframe");
  app.set_version_flag("--version", IFR_VERSION_STRING);
  app.require_subcommand(1);
  InfoOptions info;
  GenerateOptions generate;
  LogitsOptions logits;
  PerplexityOptions perplexity;
  add_info(app, info);
  add_generate(app, generate);
  add_logits(app, logits);
  add_perplexity(app, perplexity);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  if (app.got_subcommand("info")) {
    return ifr::tools::command_info(info);
  }
  if (app.got_subcommand("generate")) {
    return ifr::tools::command_generate(generate);
  }
  if (app.got_subcommand("perplexity")) {
    return ifr::tools::command_perplexity(perplexity);
  }
  return ifr::tools::command_logits(logits);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "interframe: %s\n", error.what());
    return 1;
  }
}
