// SPDX-License-Identifier: Apache-2.0
#include "model/utf8_stream.h"

#include <algorithm>

#include "model/utf8.h"

namespace ifr {

void Utf8Stream::push(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    pending_[num_pending_] = byte;  // at most 3 wait: a 4th byte always settles a character
    ++num_pending_;
    while (num_pending_ > 0) {
      const Utf8Piece piece = first_utf8_piece(pending());
      if (piece.kind == Utf8Kind::kIncomplete) {
        break;
      }
      const bool valid = piece.kind == Utf8Kind::kCharacter;
      out.append(valid ? pending().substr(0, piece.size_bytes) : kReplacementCharacter);
      std::copy(pending_.begin() + piece.size_bytes, pending_.begin() + num_pending_,
                pending_.begin());
      num_pending_ -= piece.size_bytes;
    }
  }
}

void Utf8Stream::finish(std::string& out) {
  if (num_pending_ > 0) {
    out.append(kReplacementCharacter);
    num_pending_ = 0;
  }
}

}  // namespace ifr
