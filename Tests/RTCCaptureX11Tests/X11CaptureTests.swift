import Testing
import XvfbKit

/// The tests that need an X server share two cores: one after the other.
@Suite(.timeLimit(.minutes(1)), .serialized, .enabled(if: XvfbDisplay.isInstalled)) struct X11CaptureTests {}
