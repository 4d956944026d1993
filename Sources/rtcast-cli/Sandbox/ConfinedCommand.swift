import ArgumentParser

/// A command that runs confined.
protocol ConfinedCommand: ParsableCommand {
  var sandbox: SandboxOptions { get }
  /// What it needs of this machine, as its options say.
  func state(_ needs: inout SandboxNeeds)
}
