import Testing
import rtcast_cli

@Suite struct DistributionTests {
  @Test(arguments: [
    ("ID=debian\nVERSION_ID=\"12\"\n", Distribution.debian),
    ("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n", .ubuntu),
    ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", .ubuntu),
    ("ID=fedora\n", .fedora),
    ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", .fedora),
    ("ID=arch\n", .arch),
    ("ID=manjaro\nID_LIKE=arch\n", .arch),
    ("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", .suse),
    ("ID='opensuse-leap'\n", .suse),
  ])
  func `a distribution is known by its own name or by those that it is like`(text: String, expected: Distribution) {
    #expect(Distribution(osRelease: text) == expected)
  }

  @Test(arguments: ["", "ID=\n", "ID=nixos\n", "PRETTY_ID=debian\n", "ID_LIKE=\n", "=\n\u{0}"])
  func `a distribution that is not known is none`(text: String) { #expect(Distribution(osRelease: text) == nil) }

  @Test func `each part has a command for each distribution`() {
    for distribution in Distribution.allCases {
      for part in Distribution.Part.allCases {
        #expect(distribution.command(for: part).split(separator: " ").count == 3)
      }
    }
    #expect(Distribution.debian.command(for: .ffmpeg) == "apt install ffmpeg")
    #expect(Distribution.fedora.command(for: .virtualDisplay) == "dnf install xorg-x11-server-Xvfb")
    #expect(Distribution.arch.command(for: .soundServer) == "pacman -S pipewire-pulse")
    #expect(Distribution.suse.command(for: .vpxHeaders) == "zypper install libvpx-devel")
  }

  @Test func `where the distribution is not known, the part is named`() {
    #expect(Distribution.advice(for: .ffmpeg, on: nil) == "FFmpeg")
    #expect(Distribution.advice(for: .ffmpeg, on: .ubuntu) == "`apt install ffmpeg`")
  }
}
