#!/bin/sh
# Finds what building and testing Pointsman needs and installs what is missing:
# with apt where it can, else it says what to install.
# usage: deps.sh [go|windows]    with "go", only what building without windows
# needs; with "windows", what building for Windows needs
set -eu

missing=""
wanted="" # what only some tests need, which are skipped without it
need() { missing="$missing $1"; }
want() { wanted="$wanted $1"; }

have() { command -v "$1" >/dev/null 2>&1; }

# The Go tool downloads the exact version that go.mod asks for, from 1.21 on.
have go || need go
if [ "${1:-all}" = all ]; then
	have cc || have gcc || have clang || need cc
	have npm || need node
	if [ "$(uname -s)" = Linux ]; then
		for header in GL/gl.h X11/Xlib.h X11/extensions/Xrandr.h X11/Xcursor/Xcursor.h X11/extensions/Xinerama.h X11/extensions/XInput2.h X11/extensions/xf86vmode.h; do
			[ -e "/usr/include/$header" ] || { need headers; break; }
		done
		for program in Xvfb openbox xfce4-panel dbus-run-session gnome-keyring-daemon gdbus xdotool xclip secret-tool xev; do
			have "$program" || { want desktop; break; }
		done
		have bwrap || want sandbox
	fi
fi
if [ "${1:-}" = windows ]; then
	have x86_64-w64-mingw32-gcc || need mingw
fi
[ -n "$missing$wanted" ] || exit 0

packages=""
for m in $missing $wanted; do
	case $m in
	go) packages="$packages golang-go" ;;
	cc) packages="$packages gcc libc6-dev" ;;
	node) packages="$packages nodejs npm" ;;
	mingw) packages="$packages gcc-mingw-w64-x86-64" ;;
	headers) packages="$packages libgl1-mesa-dev xorg-dev" ;;
	sandbox) packages="$packages bubblewrap" ;;
	desktop) packages="$packages xvfb openbox xfce4-panel xfconf dbus libglib2.0-bin gnome-keyring libsecret-tools xdotool xclip x11-utils imagemagick libgl1-mesa-dri fonts-dejavu-core fonts-droid-fallback" ;;
	esac
done

if have apt-get; then
	sudo=""
	[ "$(id -u)" = 0 ] || { have sudo && sudo="sudo"; } || true
	[ -z "$sudo" ] || [ -n "$missing" ] || sudo="sudo -n" # nobody is asked for a password for a few tests
	if [ "$(id -u)" = 0 ] || [ -n "$sudo" ]; then
		echo "installing with apt:$packages" >&2
		# shellcheck disable=SC2086 # the list is meant to be split
		if $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
			exit 0
		fi
		[ -n "$missing" ] || exit 0 # the tests say what they are skipped for
		exit 1
	fi
fi
[ -n "$missing" ] || exit 0

cat >&2 <<HELP
missing:$missing
Install it, then run make again:
  Debian, Ubuntu  apt install$packages
  Fedora          dnf install golang gcc nodejs npm mesa-libGL-devel libX11-devel libXrandr-devel libXcursor-devel libXinerama-devel libXi-devel libXxf86vm-devel
  Arch            pacman -S go gcc nodejs npm mesa libx11 libxrandr libxcursor libxinerama libxi libxxf86vm
  macOS           xcode-select --install; brew install go node
  Windows         winget install GoLang.Go OpenJS.NodeJS.LTS; for the windows of the program also MSYS2 with mingw-w64-x86_64-gcc
HELP
exit 1
