#!/bin/sh
# Runs a command in a desktop session of its own, without a screen: an X server,
# a window manager, a panel with a tray, a session bus, and an unlocked keychain.
# usage: session.sh COMMAND [ARGUMENT ...]
#   NO_PANEL=1   without a panel; the command may start one: xfce4-panel
#   LIGHT=1      a light panel, not a dark one
# HOME and XDG_* are in a folder of their own, $SESSION, which is removed at the
# end. `import -window root FILE.png` takes a picture of the screen.
set -eu
[ $# -gt 0 ] || { sed -n 2,8p "$0"; exit 2; }
for program in Xvfb openbox xfce4-panel dbus-run-session gnome-keyring-daemon; do
	command -v "$program" >/dev/null || { echo "session.sh: $program is not installed" >&2; exit 127; }
done

SESSION=$(mktemp -d)
export SESSION HOME="$SESSION/home" XDG_RUNTIME_DIR="$SESSION/run" LANG=C.UTF-8
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.local/state" XDG_DATA_HOME="$HOME/.local/share" XDG_CACHE_HOME="$HOME/.cache"
settings="$XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml"
mkdir -p "$settings" "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
colour='<value type="double" value="0.13"/><value type="double" value="0.14"/><value type="double" value="0.16"/>'
[ -z "${LIGHT:-}" ] || colour='<value type="double" value="0.94"/><value type="double" value="0.94"/><value type="double" value="0.94"/>'
cat >"$settings/xfce4-panel.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="28"/>
      <property name="background-style" type="uint" value="1"/>
      <property name="background-rgba" type="array">$colour<value type="double" value="1"/></property>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property>
</channel>
XML

# The server chooses a free display itself, and says which.
mkfifo "$SESSION/display"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$SESSION/display" >"$SESSION/xvfb.log" 2>&1 &
server=$!
# What the bus has started ends a moment after it, and may write until then.
clean() {
	code=$?
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	rm -rf "$SESSION" 2>/dev/null || { sleep 1; rm -rf "$SESSION"; } || true
	exit "$code"
}
trap clean EXIT
read -r number <"$SESSION/display"
export DISPLAY=":$number"

dbus-run-session -- sh -c '
	printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
	openbox >/dev/null 2>&1 &
	manager=$!
	panel=
	if [ -z "${NO_PANEL:-}" ]; then
		xfce4-panel --disable-wm-check >/dev/null 2>&1 &
		panel=$!
		gdbus wait --session --timeout 20 org.kde.StatusNotifierWatcher
	fi
	code=0
	"$@" || code=$?
	kill $manager $panel 2>/dev/null
	exit $code' session "$@"
