import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class AppTest {
  @Test
  public void answers() {
    assertEquals(42, App.answer());
  }
}
