public class App {
  public static int answer() {
    return 42;
  }
}
