import ArgumentParser
import Logging

struct ScreenCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen",
    abstract: "Cast the screen, a part of it, or a window.",
    discussion: """
      Prints a link that shows the screen in any browser on this machine; --listen lets other machines in. Nothing is \
      captured, encoded or sent while nothing on the screen changes, so a high --fps costs only while something moves. No \
      audio is sent unless --audio asks for it.

      A Wayland desktop is captured by wlr-screencopy where the compositor has it (sway, labwc, Hyprland, river, cage); else \
      by the desktop's portal, whose dialog asks what to share. --wayland-backend mutter captures GNOME without a dialog. \
      Windows of X programs can be cast everywhere (--window). `rtcast list` shows monitors and windows, and `rtcast doctor` \
      what works.

      Examples:
        rtcast screen
        rtcast screen --monitor 1 --fps 30 --content-hint motion
        rtcast screen --window Terminal
        rtcast screen --region 800x600+100+50 --no-cursor
        rtcast screen --listen 0.0.0.0:8080 --token-file ~/.rtcast-token
        rtcast screen --to https://sfu.example/whip --token-file ~/.sfu-token
      """)

  @OptionGroup(title: "Screen") var screen: ScreenOptions
  @OptionGroup var cast: CastOptions

  func source(_ logger: Logger) -> CastRunner.Source { screen.source(cast.media, logger) }
}
