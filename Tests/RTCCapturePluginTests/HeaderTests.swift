import Testing

@Suite(.serialized) struct HeaderTests {
  private static let warnings = ["-fsyntax-only", "-pedantic", "-Wall", "-Wextra", "-Wpadded", "-Werror"]

  /// Fails to compile when a size or a place differs from what plugins were built with.
  private func check(_ assertion: String) -> [UInt8] {
    Array(
      """
      #include <stddef.h>
      #include "rtcast_plugin.h"
      #define same(a, b) \(assertion)
      same(sizeof(rtcast_picture), 160);
      same(sizeof(rtcast_sound), 80);
      same(sizeof(rtcast_request), 64);
      same(sizeof(rtcast_plugin), 184);
      same(offsetof(rtcast_plugin, start), 40);

      """.utf8)
  }

  private func compile(_ language: String, _ file: String) -> Int32 {
    let include = PluginWorkshop.root + "/Sources/CRTCastPlugin/include"
    return PluginWorkshop.run(["cc", "-std=\(language)"] + Self.warnings + ["-I", include, file])
  }

  @Test func `it is plain C99 without hidden padding`() throws {
    let file = try PluginWorkshop.file("header.c", check("extern char check_of_layout[(a) == (b) ? 1 : -1]"))
    #expect(compile("c99", file) == 0)
  }

  @Test func `it is plain C++11 with the same layout`() throws {
    let file = try PluginWorkshop.file("header.cpp", check("static_assert((a) == (b), \"the layout changed\")"))
    #expect(compile("c++11", file) == 0)
  }
}
